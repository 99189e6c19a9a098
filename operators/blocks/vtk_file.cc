#include "operators/blocks/vtk_file.h"

#include <map>
#include <sstream>
#include <vector>

#include "operators/blocks/block_mesh.h"
#include "operators/data/short_text.h"

namespace tensormg
{
namespace
{
  /// The sections of a file.
  class VtkChecker
  {
  public:
    explicit VtkChecker(const std::string &content)
      : content_(content)
    {}

    void check()
    {
      check_points();
      check_cells();
      check_types();
      check_data();
    }

  private:
    /// What follows a keyword at the begin of a line.
    std::istringstream after(const std::string &keyword) const
    {
      const std::size_t at = content_.find("\n" + keyword + " ");
      if (at == std::string::npos)
        throw MeshError("the file has no section " + keyword + ": it is cut off, or holds no mesh");
      return std::istringstream(content_.substr(at + keyword.size() + 2));
    }

    template <typename Number>
    static Number next(std::istringstream &text, const std::string &what)
    {
      Number number{};
      if (!(text >> number))
        throw MeshError(what + " is missing or no number");
      return number;
    }

    void check_points()
    {
      std::istringstream text = after("POINTS");
      n_points_ = next<long>(text, "the number of points");
      std::string type;
      text >> type;
      for (long p = 0; p < n_points_; ++p)
        for (int d = 0; d < 3; ++d)
          next<double>(text, "coordinate " + std::to_string(d) + " of point " + std::to_string(p));
    }

    void check_cells()
    {
      std::istringstream text = after("CELLS");
      n_cells_ = next<long>(text, "the number of cells");
      next<long>(text, "the size of the section CELLS");
      for (long c = 0; c < n_cells_; ++c)
      {
        const std::string cell = "cell " + std::to_string(c);
        const long n = next<long>(text, "the number of points of " + cell);
        sizes_.push_back(n);
        for (long i = 0; i < n; ++i)
          if (const long p = next<long>(text, "a point of " + cell); p < 0 || p >= n_points_)
            throw MeshError(cell + " names point " + std::to_string(p) + "; there are " +
                std::to_string(n_points_));
      }
    }

    void check_types()
    {
      std::istringstream text = after("CELL_TYPES");
      if (const long n = next<long>(text, "the number of types"); n != n_cells_)
        throw MeshError(std::to_string(n_cells_) + " cells have " + std::to_string(n) + " types");
      const std::map<int, long> sizes_of_types{
          {1, 1}, {3, 2}, {5, 3}, {9, 4}, {10, 4}, {12, 8}, {13, 6}, {14, 5}};
      for (long c = 0; c < n_cells_; ++c)
      {
        const int type = next<int>(text, "the type of cell " + std::to_string(c));
        // Of those that deal.II knows; it refuses others.
        const auto size = sizes_of_types.find(type);
        if (size != sizes_of_types.end() && size->second != sizes_[c])
          throw MeshError("cell " + std::to_string(c) + " is of type " + std::to_string(type) +
              " and has " + std::to_string(sizes_[c]) + " points instead of " +
              std::to_string(size->second));
      }
    }

    void check_data()
    {
      if (content_.find("\nCELL_DATA") == std::string::npos)
        return;
      std::istringstream text = after("CELL_DATA");
      if (const long n = next<long>(text, "the number of CELL_DATA"); n != n_cells_)
        throw MeshError(
            std::to_string(n_cells_) + " cells have " + std::to_string(n) + " CELL_DATA");
      bool has_data = false;
      std::string word;
      while (text >> word && word != "POINT_DATA")
      {
        has_data = true;
        if (word == "SCALARS")
          check_scalars(text);
      }
      if (!has_data)
        throw MeshError("the section CELL_DATA is empty: the file is cut off");
    }

    /// name type, perhaps a number of components, LOOKUP_TABLE name, and the values.
    void check_scalars(std::istringstream &text) const
    {
      std::string name, type, word, table;
      text >> name >> type >> word;
      long n_components = 1;
      if (word != "LOOKUP_TABLE")
      {
        std::istringstream components(word);
        n_components = next<long>(components, "the number of components of " + cut(name));
        text >> word;
      }
      text >> table;
      for (long i = 0; i < n_cells_ * n_components; ++i)
        next<double>(text, "value " + std::to_string(i) + " of " + cut(name) + " in CELL_DATA");
    }

    const std::string &content_;
    long n_points_ = 0, n_cells_ = 0;
    std::vector<long> sizes_; ///< numbers of points of the cells
  };
} // namespace

std::string checked_vtk(const std::string &content)
{
  std::istringstream lines(content);
  std::string header, title, encoding;
  std::getline(lines, header);
  std::getline(lines, title);
  lines >> encoding;
  const std::string begin = "# vtk DataFile Version ";
  if (!header.starts_with(begin))
    throw MeshError("this is no legacy VTK file: it does not begin with '" + begin + "'");
  const std::string version = header.substr(begin.size(), header.find_last_not_of(" \r\t") + 1);
  if (version.size() < 2 || version[0] < '1' || version[0] > '4' || version[1] != '.')
    throw MeshError("the version of this VTK file is " + cut(version) +
        "; 1 to 4 are read: ParaView and VTK can write version 4.2");
  if (encoding != "ASCII")
    throw MeshError("this VTK file is " + cut(encoding) + "; only ASCII is read");
  VtkChecker(content).check();
  return begin + "3.0\n" + content.substr(content.find('\n') + 1);
}
} // namespace tensormg
