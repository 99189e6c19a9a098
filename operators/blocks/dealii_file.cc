#include "operators/blocks/dealii_file.h"

#include <exception>
#include <sstream>
#include <utility>

#include <deal.II/base/exceptions.h>
#include <deal.II/grid/grid_in.h>
#include <deal.II/grid/tria.h>

#include "operators/blocks/captured_errors.h"
#include "operators/blocks/dealii_cells.h"
#include "operators/blocks/mesh_cells.h"

namespace tensormg
{
namespace
{
  /// As long as it lives, what deal.II's debug library asserts is thrown: a wrong file must not end the program.
  class ThrownAssertions
  {
  public:
    ThrownAssertions() { dealii::deal_II_exceptions::disable_abort_on_exception(); }
    ~ThrownAssertions() { dealii::deal_II_exceptions::enable_abort_on_exception(); }
    ThrownAssertions(const ThrownAssertions &) = delete;
    ThrownAssertions &operator=(const ThrownAssertions &) = delete;
  };

  /// With three coordinates in 2D too, since deal.II would drop the third one whatever it is.
  template <int dim>
  void read(dealii::Triangulation<dim, 3> &triangulation, MeshFormat format, std::istream &text)
  {
    dealii::GridIn<dim, 3> reader;
    reader.attach_triangulation(triangulation);
    switch (format)
    {
      case MeshFormat::vtk:
        reader.read_vtk(text);
        break;
      case MeshFormat::abaqus:
        reader.read_abaqus(text);
        break;
      case MeshFormat::ucd:
        reader.read_ucd(text);
        break;
    }
  }

  /// What deal.II printed of an exception of its own, which it then replaced: the part that says what is wrong.
  std::string printed_reason(const std::string &text)
  {
    const std::string begin = "Additional information:";
    const std::size_t at = text.find(begin);
    if (at == std::string::npos)
      return "";
    const std::size_t from = at + begin.size();
    return joined_words(text.substr(from, text.find("Stacktrace:", from) - from));
  }

  template <int dim>
  void read_or_throw(
      dealii::Triangulation<dim, 3> &triangulation, MeshFormat format, const std::string &content)
  {
    std::istringstream text(content);
    const CapturedErrors printed; // of read_abaqus()
    const ThrownAssertions thrown;
    std::string reason;
    try
    {
      read(triangulation, format, text);
      return;
    }
    catch (const dealii::ExceptionBase &error)
    {
      reason = reason_of(error);
    }
    catch (const std::exception &error)
    {
      reason = joined_words(error.what());
    }
    const std::string more = printed_reason(printed.text());
    throw MeshError("deal.II does not read it: " + (more.empty() ? reason : more));
  }

  template <int dim>
  NamedMesh read_mesh(MeshFormat format, const std::string &content)
  {
    dealii::Triangulation<dim, 3> triangulation;
    read_or_throw(triangulation, format, content);
    std::size_t others = 0;
    for (const auto &cell : triangulation.active_cell_iterators())
      others += cell->reference_cell().is_hyper_cube() ? 0 : 1;
    if (others > 0)
      throw MeshError(std::to_string(others) + " of the " +
          std::to_string(triangulation.n_active_cells()) + " cells are no " +
          (dim == 3 ? "hexahedra" : "quadrilaterals"));
    MeshCells cells = cells_of(triangulation);
    drop_plane(cells);
    orient_cells(cells);
    BlockMesh mesh = make_block_mesh(cells);
    BlockGeometry geometry(mesh);
    return {std::move(mesh), std::move(geometry)};
  }
} // namespace

NamedMesh read_dealii_mesh(int dim, MeshFormat format, const std::string &content)
{
  return dim == 2 ? read_mesh<2>(format, content) : read_mesh<3>(format, content);
}
} // namespace tensormg
