#include "apps/parameters/fields.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <utility>

#include "apps/common/path_list.h"
#include "apps/parameters/checks.h"
#include "apps/parameters/field_description.h"
#include "apps/parameters/values.h"
#include "operators/data/functions.h"
#include "operators/data/nodal_field.h"
#include "operators/data/npy_array.h"
#include "tensormg/report.h"

namespace tensormg
{
namespace
{
  /// An array without a description, of one number for each cell of the problem's box.
  NodalLayout layout_of_cells(const NpyArray &array, const Problem &problem)
  {
    const std::vector<std::int64_t> &shape = array.shape();
    const bool is_usable = std::ssize(shape) == problem.dim &&
        std::all_of(shape.begin(), shape.end(), [](std::int64_t n) { return n >= 1; });
    if (!is_usable)
      throw DataFileError(array.path() + ": has the shape " + array.shape_text() +
          "; allowed without a description: " +
          (problem.dim == 3 ? "(n_z, n_y, n_x)" : "(n_y, n_x)") +
          ", one number for each cell of a grid in the box, problem.dimension being " +
          std::to_string(problem.dim));
    NodalLayout layout;
    layout.dim = problem.dim;
    layout.lower = problem.lower;
    layout.upper = problem.upper;
    std::copy(shape.rbegin(), shape.rend(), layout.cells.begin());
    return layout;
  }

  std::shared_ptr<const NodalField> open_field(FieldSource &source, const Problem &problem)
  {
    const std::string ending = std::filesystem::path(source.path).extension().string();
    if (ending == ".npy")
    {
      auto array = std::make_shared<const NpyArray>(source.path);
      const NodalLayout layout = layout_of_cells(*array, problem);
      return std::make_shared<const NodalField>(std::move(array), layout);
    }
    if (ending != ".json")
      throw DataFileError(source.path +
          ": is no file of a field; allowed: the .json file that output.write_npy writes, or a .npy file");
    const FieldDescription description = read_description(source.path);
    if (description.layout.dim != problem.dim)
      throw DataFileError(source.path + ": is a field in " +
          std::to_string(description.layout.dim) +
          " dimensions; allowed: problem.dimension = " + std::to_string(problem.dim));
    source.converged = description.converged;
    auto array = std::make_shared<const NpyArray>(array_of(source.path));
    if (array->has_integers())
      throw DataFileError(array->path() + ": has numbers of type " + array->type_text() +
          ", but a description; allowed: float32 or float64, or an array of labels without description");
    return std::make_shared<const NodalField>(std::move(array), description.layout);
  }

  /// Whether the field is constant in equal parts of the problem's box.
  bool has_voxels(const NodalLayout &layout, const Problem &problem)
  {
    return layout.nodes.size() == 1 && layout.lower == problem.lower &&
        layout.upper == problem.upper &&
        std::all_of(layout.corners.begin(), layout.corners.end(),
            [](const auto &corners) { return corners.empty(); });
  }

  std::string point_text(int dim, const std::array<double, 3> &point)
  {
    std::vector<std::string> numbers;
    for (int d = 0; d < dim; ++d)
      numbers.push_back(number_text(point[static_cast<std::size_t>(d)]));
    return '(' + join(numbers, ", ") + ')';
  }

  /// The number of each label.
  Function material_function(std::shared_ptr<const NodalField> labels, const std::string &name,
      const std::map<std::int64_t, double> &materials)
  {
    return [labels = std::move(labels), name, materials](
               std::size_t n, const double *x, const double *y, const double *z, double *values) {
      labels->values(name, n, x, y, z, values);
      auto last = materials.end(); // neighbours are often alike
      for (std::size_t q = 0; q < n; ++q)
      {
        const auto label = static_cast<std::int64_t>(values[q]);
        if (last == materials.end() || last->first != label)
          last = materials.find(label);
        if (last == materials.end())
          throw ExpressionError(name,
              "has the label " + std::to_string(label) + " at " +
                  point_text(labels->layout().dim, {x[q], y[q], z[q]}) +
                  ", to which problem.materials gives no number");
        values[q] = last->second;
      }
    };
  }
} // namespace

std::string read_fields(std::map<std::string, FieldSource> &fields,
    const std::map<std::string, double> &constants, const std::string &text)
{
  fields.clear();
  for (const std::string &part : split_paths(text))
  {
    const std::size_t equals = part.find('=');
    const std::string name = trim(part.substr(0, equals));
    if (std::string complaint = complaint_about_name(name); !complaint.empty())
      return complaint;
    const std::string path = equals == std::string::npos ? "" : trim(part.substr(equals + 1));
    if (path.empty())
      return "gives '" + cut(name) + "' no file";
    if (constants.contains(name))
      return "gives the name '" + cut(name) + "', which is a constant";
    if (!fields.emplace(name, FieldSource{.path = path, .converged = true, .labels = ""}).second)
      return "gives '" + cut(name) + "' twice";
  }
  return "";
}

std::string write_fields(const std::map<std::string, FieldSource> &fields)
{
  std::vector<std::string> parts;
  for (const auto &[name, source] : fields)
    parts.push_back(name + " = " + source.path);
  return join_paths(parts);
}

void load_fields(Parameters &parameters)
{
  for (auto &[name, source] : parameters.fields)
    try
    {
      Problem &problem = parameters.problem;
      const auto field = open_field(source, problem);
      if (has_voxels(field->layout(), problem))
        problem.voxels[name] = field->layout().cells;
      if (field->array().has_integers())
        source.labels = field->array().type_text();
      problem.functions[name] = source.labels.empty()
          ? field_function(field, name)
          : material_function(field, name, parameters.materials);
    }
    catch (const DataFileError &error)
    {
      fail_for(parameters, {"problem.fields"}, error.what());
    }
}

std::vector<std::string> warnings_of_fields(const Parameters &parameters)
{
  std::vector<std::string> warnings;
  for (const auto &[name, source] : parameters.fields)
    if (!source.converged)
      warnings.push_back("problem.fields: " + name + " = " + source.path +
          " is of a solve that had not converged");
  return warnings;
}

std::string misplaced_field(const Parameters &parameters, const std::string &expression)
{
  const auto is_part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  for (std::size_t begin = 0; begin < expression.size();)
  {
    std::size_t end = begin;
    while (end < expression.size() && is_part(static_cast<unsigned char>(expression[end])))
      ++end;
    std::string word = expression.substr(begin, end - begin);
    if (word != expression && parameters.fields.contains(word))
      return word;
    begin = std::max(end, begin + 1);
  }
  return "";
}
} // namespace tensormg
