// Expressions: whether they can be parsed, and are finite where a solve evaluates them.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <deal.II/base/quadrature_lib.h>

#include "apps/parameters/checks.h"
#include "apps/parameters/fields.h"
#include "apps/parameters/mesh.h"
#include "apps/parameters/text.h"
#include "operators/data/functions.h"
#include "operators/data/tensor_rule.h"

namespace tensormg
{
namespace
{
  /// What muParser would accept, but surely is not meant; empty if nothing.
  std::string suspicious(const std::string &expression)
  {
    if (expression.empty())
      return "is empty";
    int depth = 0;
    for (std::size_t i = 0; i < expression.size(); ++i)
    {
      const char c = expression[i];
      const char before = i > 0 ? expression[i - 1] : ' ';
      const char after = i + 1 < expression.size() ? expression[i + 1] : ' ';
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (c == ';' || (c == ',' && depth == 0))
        return std::string("has a '") + c + "' at position " + std::to_string(i) +
            ", but one expression is needed";
      if (c == '=' && after != '=' && std::string("=<>!").find(before) == std::string::npos)
        return "assigns with '=' at position " + std::to_string(i) + "; '==' compares";
    }
    return "";
  }

  using Points = std::array<std::vector<double>, 3>;

  /// Coordinates of quadrature points as a solve computes them, in rows and columns through the whole box: all of a small
  /// grid, of a large one cells here and there and the outermost ones.
  Points sample_points(const Problem &problem, int points_per_cell)
  {
    const std::int64_t most_cells = problem.dim == 3 ? 8 : 32;
    const dealii::QGauss<1> rule(static_cast<unsigned int>(points_per_cell));
    Points points{{{}, {}, {0.}}};
    for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d)
    {
      points[d].clear();
      const std::int64_t cells = problem.cells(static_cast<int>(d)),
                         used = std::min(cells, most_cells);
      for (std::int64_t i = 0; i < used; ++i)
      {
        const std::int64_t cell = used == cells ? i : i * (cells - 1) / (used - 1);
        const double begin = problem.corner(static_cast<int>(d), cell),
                     size = problem.corner(static_cast<int>(d), cell + 1) - begin;
        for (const dealii::Point<1> &point : rule.get_points())
          points[d].push_back(begin + point[0] * size);
      }
    }
    return points;
  }

  /// Which values must be finite.
  enum class Need : std::uint8_t
  {
    all, ///< those of the data of the problem
    any  ///< of a solution to compare with, which may have holes: the run says so
  };

  /// What is wrong with the values; empty if nothing is.
  std::string complaint_about_values(
      const ScalarFunction &function, int dim, const Points &points, Need need)
  {
    // In parts, since an evaluation needs several arrays of their size.
    constexpr std::size_t rows_at_once = 32;
    const auto &[x, y, z] = points;
    std::string complaint;
    std::vector<double> values;
    for (const double &at_z : z)
      for (std::size_t first = 0; first < y.size(); first += rows_at_once)
      {
        const std::size_t rows = std::min(rows_at_once, y.size() - first);
        values.resize(x.size() * rows);
        function.tensor_values(x, {y.data() + first, rows}, {&at_z, 1}, values.data());
        for (std::size_t q = 0; q < values.size(); ++q)
        {
          const bool is_finite = std::isfinite(values[q]);
          if (is_finite && need == Need::any)
            return "";
          if (!is_finite && complaint.empty())
            complaint =
                not_finite_text(values[q], {x[q % x.size()], y[first + q / x.size()], at_z}, dim);
        }
        if (need == Need::all && !complaint.empty())
          return complaint;
      }
    return complaint;
  }

  /// Throws ExpressionError unless a field has values up to the corners of the box, or of the side whose points these are:
  /// quadrature points do not reach them, but output does.
  void check_corners(const ScalarFunction &field, const Problem &problem, const Points &points)
  {
    std::array<double, 3> lower{}, upper{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d)
    {
      const bool is_across_side = points[d].size() == 1;
      lower[d] = is_across_side ? points[d].front() : problem.lower[d];
      upper[d] = is_across_side ? points[d].front() : problem.upper[d];
    }
    for (const std::array<double, 3> &corner : {lower, upper})
      static_cast<void>(field.value(corner[0], corner[1], corner[2]));
  }

  void check_expression(const Parameters &p, const std::string &key, const std::string &expression,
      const Points &points, Need need)
  {
    std::string complaint = suspicious(expression);
    if (const auto field = p.fields.find(expression);
        field != p.fields.end() && !field->second.labels.empty() && key != "problem.coefficient")
      complaint = "has labels (" + field->second.labels + "), which only a coefficient may have";
    if (complaint.empty())
      try
      {
        const ScalarFunction function = scalar_function(p.problem, expression);
        complaint = complaint_about_values(function, p.problem.dim, points, need);
        if (p.fields.contains(expression))
          check_corners(function, p.problem, points);
      }
      catch (const ExpressionError &error)
      {
        complaint = error.reason();
      }
    if (complaint.empty())
      return;
    if (const std::string field = misplaced_field(p, expression); !field.empty())
      complaint += "; the field " + field + " can only be the whole expression";
    fail_for(p, ExpressionError(key, expression, complaint));
  }
} // namespace

namespace
{
  /// What the values must be.
  std::string allowed_values(const std::string &key)
  {
    if (key == "problem.coefficient")
      return ", with values > 0 and finite, one in each cell unless problem.coefficient_in_cell = mean";
    if (key == "problem.reaction")
      return ", with values >= 0 and finite, one in each cell unless problem.coefficient_in_cell = mean";
    if (key.ends_with("_robin_coefficient"))
      return ", with values >= 0 and finite, one on each face of a cell unless problem.coefficient_in_cell = mean";
    return ", finite at all quadrature points";
  }
} // namespace

void fail_for(const Parameters &parameters, const ExpressionError &error)
{
  std::vector<std::string> constants;
  for (const auto &constant : parameters.problem.constants)
    constants.push_back(constant.first);
  std::vector<std::string> fields;
  for (const auto &field : parameters.fields)
    fields.push_back(field.first);
  const auto of_file = parameters.fields.find(error.expression());
  throw ParameterError(place(parameters, error.key()) + error.what() +
      (of_file == parameters.fields.end() ? "" : "; the file is " + cut(of_file->second.path)) +
      "; allowed: " + (error.key() == "problem.coefficient" ? "a number, " : "") +
      "an expression in " + (parameters.problem.dim == 2 ? "x, y" : "x, y, z") +
      " and the constants " + join(constants, ", ") +
      (fields.empty() ? "" : ", or one of the fields " + join(fields, ", ")) +
      allowed_values(error.key()));
}

namespace
{
  /// The whole check is add_cell_coefficients(): these are the first cells.
  void check_coefficients(const Parameters &p)
  {
    const Points middles = sample_points(p.problem, 1);
    for (const std::string &part : p.problem.cell_coefficient)
      if (!part.empty())
        check_expression(p, "problem.coefficient", part, middles, Need::all);
    if (!p.problem.reaction.empty())
      check_expression(p, "problem.reaction", p.problem.reaction, middles, Need::all);
  }
} // namespace

namespace
{
  /// Likewise; `position`: of the side, across it.
  void check_robin(const Parameters &p, std::size_t side, const std::vector<double> &position)
  {
    Points middles = sample_points(p.problem, 1);
    middles[side / 2] = position;
    check_expression(p, std::string("boundary.") + side_names[side] + "_robin_coefficient",
        p.problem.robin_coefficient[side], middles, Need::all);
  }
} // namespace

namespace
{
  /// Of curved cells, whose points are known when there is a mesh: whether it can be parsed.
  void parse(const Parameters &p, const std::string &key, const std::string &expression)
  {
    std::string complaint = suspicious(expression);
    Problem problem = p.problem;
    if (key != "mesh.map")
      problem.constants["material"] = 0.;
    if (complaint.empty())
      try
      {
        static_cast<void>(scalar_function(problem, expression));
      }
      catch (const ExpressionError &error)
      {
        complaint = error.reason();
      }
    if (!complaint.empty())
      fail_for(p, ExpressionError(key, expression, complaint));
  }

  void parse_all_on_blocks(const Parameters &p)
  {
    const Problem &problem = p.problem;
    const auto parse_some = [&](const std::string &key, const auto &expressions) {
      for (const std::string &expression : expressions)
        if (!expression.empty())
          parse(p, key, expression);
    };
    parse_some("mesh.map", p.mesh.map);
    parse_some("problem.coefficient", problem.cell_coefficient);
    parse_some("problem.coefficient", problem.mixed_coefficient);
    parse_some("problem.reaction", std::array{problem.reaction});
    parse(p, "problem.right_hand_side", problem.right_hand_side);
    parse_some("problem.initial_guess", std::array{problem.initial_guess});
    parse_some("problem.exact_solution", std::array{problem.exact_solution});
    if (!problem.exact_gradient[0].empty() && problem.exact_solution.empty())
      fail_for(p, {"problem.exact_gradient", "problem.exact_solution"},
          "a gradient without a solution; allowed: both or none");
    parse_some("problem.exact_gradient", problem.exact_gradient);
    if (p.mesh.type == MeshType::mapped)
      for (std::size_t s = 0; s < 2 * static_cast<std::size_t>(problem.dim); ++s)
      {
        const std::string side = std::string("boundary.") + side_names[s];
        parse(p, side + "_value", problem.boundary_value[s]);
        parse(p, side + "_robin_coefficient", problem.robin_coefficient[s]);
      }
    else
      for (const auto &[name, condition] : p.mesh.conditions)
        if (condition.kind != BoundaryKind::periodic)
          for (const std::string &expression : {condition.value, condition.robin_coefficient})
            parse(p, "boundary.conditions", expression);
  }
} // namespace

void check_expressions(const Parameters &p)
{
  if (has_blocks(p))
    return parse_all_on_blocks(p);
  const Problem &problem = p.problem;
  const Points points = sample_points(problem, problem.degree + 2),
               points_of_errors = sample_points(problem, problem.degree + 3);
  check_coefficients(p);
  check_expression(p, "problem.right_hand_side", problem.right_hand_side, points, Need::all);
  if (!problem.initial_guess.empty())
    check_expression(p, "problem.initial_guess", problem.initial_guess, points, Need::all);
  if (!problem.exact_solution.empty())
    check_expression(
        p, "problem.exact_solution", problem.exact_solution, points_of_errors, Need::any);
  if (!problem.exact_gradient[0].empty())
  {
    if (problem.exact_solution.empty())
      fail_for(p, {"problem.exact_gradient", "problem.exact_solution"},
          "a gradient without a solution; allowed: both or none");
    for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d)
      check_expression(
          p, "problem.exact_gradient", problem.exact_gradient[d], points_of_errors, Need::any);
  }
  for (std::size_t s = 0; s < 2 * static_cast<std::size_t>(problem.dim); ++s)
  {
    if (problem.boundary[s] == BoundaryKind::periodic)
      continue;
    Points on_side = points;
    on_side[s / 2] = {problem.corner(int(s / 2), s % 2 == 0 ? 0 : problem.cells(int(s / 2)))};
    check_expression(p, std::string("boundary.") + side_names[s] + "_value",
        problem.boundary_value[s], on_side, Need::all);
    if (problem.boundary[s] == BoundaryKind::robin)
      check_robin(p, s, on_side[s / 2]);
  }
}
} // namespace tensormg
