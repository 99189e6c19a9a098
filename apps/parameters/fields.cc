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
#include "operators/data/nodal_field.h"
#include "operators/data/npy_array.h"

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
    return std::make_shared<const NodalField>(
        std::make_shared<const NpyArray>(array_of(source.path)), description.layout);
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
    if (!fields.emplace(name, FieldSource{path}).second)
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
      parameters.problem.functions[name] =
          field_function(open_field(source, parameters.problem), name);
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
