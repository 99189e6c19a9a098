#include "apps/parameters/field_description.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/common/json_text.h"
#include "operators/data/short_text.h"
#include "operators/output/nodal_file.h"
#include "version.h"

namespace tensormg
{
namespace
{
  using Json = nlohmann::ordered_json;

  constexpr const char *format = "tensormg field";
  constexpr int format_version = 1, version_with_corners = 2;

  bool has_corners(const NodalLayout &layout)
  {
    return std::any_of(layout.corners.begin(), layout.corners.end(),
        [](const auto &corners) { return !corners.empty(); });
  }

  /// Of the array's indices; in 2D without those of z.
  std::string layout_words(int dim, bool with_corners)
  {
    const std::string z = dim == 3 ? "[cell_z]" : "", node_z = dim == 3 ? "[node_z]" : "";
    return "float64, little-endian, C order, " + z + "[cell_y][cell_x]" + node_z +
        "[node_y][node_x]; node i of cell c lies in direction d at lower[d] + (c + nodes[i]) "
        "* (upper[d] - lower[d]) / cells[d]" +
        (with_corners
                ? ", where corners[d] is not empty at corners[d][c] + nodes[i] * (corners[d][c + 1] - corners[d][c])"
                : "");
  }

  /// The entries of one file, with errors that name it.
  class Reader
  {
  public:
    explicit Reader(const std::string &path)
      : path_(path)
    {
      std::ifstream stream(path, std::ios::binary);
      std::ostringstream text;
      if (stream && stream.peek() != std::ifstream::traits_type::eof())
        text << stream.rdbuf();
      if (!stream.is_open() || stream.bad() || !text || std::filesystem::is_directory(path))
        fail("cannot be read", "the .json file that output.write_npy writes beside an array");
      try
      {
        json_ = json_of_text(text.str());
      }
      catch (const Json::exception &)
      {
        json_ = nullptr;
      }
      if (!json_.is_object() || json_.value("format", Json()) != format)
        fail("is no description of a field",
            R"(the .json file that output.write_npy writes, with "format": ")" +
                std::string(format) + '"');
    }

    [[noreturn]] void fail(const std::string &reason, const std::string &allowed) const
    {
      throw DataFileError(path_ + ": " + reason + "; allowed: " + allowed);
    }

    /// The entry, if accept(value) is true.
    template <typename Value, typename Accept>
    Value get(const std::string &key, const std::string &allowed, const Accept &accept) const
    {
      const auto entry = json_.find(key);
      if (entry == json_.end())
        fail("has no entry '" + key + "'", allowed);
      try
      {
        if (Value value = entry->get<Value>(); accept(value))
          return value;
      }
      catch (const Json::exception &)
      {
        // of another type
      }
      fail("'" + key + "' is " + cut(entry->dump(-1, ' ', false, Json::error_handler_t::replace)),
          allowed);
    }

    /// One number for each direction.
    template <typename Number, typename Accept>
    void get_directions(const std::string &key, int dim, const std::string &allowed,
        std::array<Number, 3> &values, const Accept &accept) const
    {
      const std::vector<Json> numbers =
          get<std::vector<Json>>(key, allowed, [&](const std::vector<Json> &list) {
            bool usable = std::ssize(list) == dim;
            for (const Json &number : list)
              usable = usable &&
                  (std::is_integral_v<Number> ? number.is_number_integer() : number.is_number()) &&
                  accept(number.get<Number>());
            return usable;
          });
      for (std::size_t d = 0; d < numbers.size(); ++d)
        values[d] = numbers[d].get<Number>();
    }

  private:
    std::string path_;
    Json json_;
  };

  void read_corners(const Reader &reader, NodalLayout &layout)
  {
    using Lists = std::vector<std::vector<double>>;
    const auto is_usable = [&](const std::vector<double> &list, std::size_t d) {
      if (list.empty())
        return true;
      bool usable = std::ssize(list) == layout.cells[d] + 1 && list.front() == layout.lower[d] &&
          list.back() == layout.upper[d];
      for (std::size_t i = 1; i < list.size(); ++i)
        usable = usable && list[i] > list[i - 1];
      return usable;
    };
    const auto lists = reader.get<Lists>("corners",
        "a list for each direction, empty or with one more number than cells, increasing from lower to upper",
        [&](const Lists &all) {
          bool usable = std::ssize(all) == layout.dim;
          for (std::size_t d = 0; usable && d < all.size(); ++d)
            usable = is_usable(all[d], d);
          return usable;
        });
    std::copy(lists.begin(), lists.end(), layout.corners.begin());
  }
} // namespace

FieldDescription describe_field(const Grid &grid, const FieldName &field, bool converged)
{
  FieldDescription description;
  NodalLayout &layout = description.layout;
  layout.dim = grid.problem.dim;
  layout.lower = grid.problem.lower;
  layout.upper = grid.problem.upper;
  layout.cells = grid.finest().global_cells;
  for (int d = 0; d < layout.dim; ++d)
    if (const Axis &axis = grid.finest().axis[d]; !axis.is_equal())
    {
      for (std::int64_t c = 0; c < layout.cells[d]; ++c)
        layout.corners[d].push_back(axis.coordinate(c, 0.));
      layout.corners[d].push_back(axis.upper());
    }
  layout.nodes = nodes_of_file(grid.problem.degree);
  description.field = field;
  description.converged = converged;
  return description;
}

std::string description_text(const FieldDescription &description)
{
  const NodalLayout &layout = description.layout;
  const auto directions = [&](const auto &values) {
    return std::vector(values.begin(), values.begin() + layout.dim);
  };
  const bool with_corners = has_corners(layout);
  Json json{{"format", format},
      {"format_version", with_corners ? version_with_corners : format_version},
      {"layout", layout_words(layout.dim, with_corners)}, {"shape", layout.shape()},
      {"dimension", layout.dim}, {"lower", directions(layout.lower)},
      {"upper", directions(layout.upper)}, {"cells", directions(layout.cells)},
      {"degree", layout.nodes.size() - 1}, {"nodes", layout.nodes},
      {"field_name", description.field.name}, {"field_unit", description.field.unit},
      {"converged", description.converged}, {"version", version}, {"git_hash", git_hash}};
  if (with_corners)
    json["corners"] = directions(layout.corners);
  return text_of_json(json) + '\n';
}

bool is_description(const std::string &path)
{
  try
  {
    const Reader reader(path);
    return true;
  }
  catch (const DataFileError &)
  {
    return false;
  }
}

FieldDescription read_description(const std::string &path)
{
  const Reader reader(path);
  const int read_version = reader.get<int>("format_version",
      std::to_string(format_version) + " or " + std::to_string(version_with_corners),
      [](int number) { return number == format_version || number == version_with_corners; });
  FieldDescription description;
  NodalLayout &layout = description.layout;
  layout.dim = reader.get<int>("dimension", "2 or 3", [](int dim) { return dim == 2 || dim == 3; });
  const std::string per_direction = std::to_string(layout.dim) + " numbers";
  const auto is_finite = [](double x) { return std::isfinite(x); };
  reader.get_directions("lower", layout.dim, per_direction, layout.lower, is_finite);
  reader.get_directions(
      "upper", layout.dim, per_direction + ", above those of lower", layout.upper, is_finite);
  for (int d = 0; d < layout.dim; ++d)
    if (!(layout.upper[d] > layout.lower[d]) || !std::isfinite(layout.upper[d] - layout.lower[d]))
      reader.fail(std::string("the box has no extent in ") + "xyz"[d], "lower < upper");
  reader.get_directions("cells", layout.dim, per_direction + ", integers from 1 to 2^40",
      layout.cells, [](std::int64_t n) { return n >= 1 && n <= std::int64_t(1) << 40; });
  if (read_version == version_with_corners)
    read_corners(reader, layout);
  layout.nodes = reader.get<std::vector<double>>("nodes",
      "1 to " + std::to_string(most_nodes) + " increasing numbers from 0 to 1",
      [](const std::vector<double> &nodes) {
        double before = -1.;
        bool usable = !nodes.empty() && std::ssize(nodes) <= most_nodes;
        for (const double node : nodes)
        {
          usable = usable && node >= 0. && node <= 1. && node > before;
          before = node;
        }
        return usable;
      });
  const auto any = [](const auto &) { return true; };
  description.field.name = reader.get<std::string>("field_name", "a text", any);
  description.field.unit = reader.get<std::string>("field_unit", "a text", any);
  description.converged = reader.get<bool>("converged", "true or false", any);
  return description;
}

std::string array_of(const std::string &path)
{
  return std::filesystem::path(path).replace_extension(".npy").string();
}
} // namespace tensormg
