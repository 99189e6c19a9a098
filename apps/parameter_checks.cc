#include "apps/parameter_checks.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>

#include <deal.II/base/function_parser.h>

#include "apps/parameter_file.h"
#include "apps/parameter_table.h"
#include "apps/parameter_text.h"

namespace tensormg
{
namespace
{
  using dealii::FunctionParser;
  using dealii::Point;

  /// More degrees of freedom than this cannot be counted in 64 bits with room for sums.
  constexpr double max_dofs = 4.6e18; // about 2^62

  /// The message about a contradiction: the values of all `names`, with where they were set.
  [[noreturn]] void fail(const Parameters &parameters, const Origins &origins,
      const std::vector<std::string> &names, const std::string &text)
  {
    std::string where;
    for (const std::string &name : names)
      if (const auto origin = origins.find(name); where.empty() && origin != origins.end())
        where = origin->second;
    std::vector<std::string> values;
    for (const std::string &name : names)
    {
      const auto origin = origins.find(name);
      const std::string place = origin == origins.end() ? " (default)"
          : origin->second == where                     ? ""
                                                        : " (" + origin->second + ")";
      const std::string value = find_parameter(name)->write(parameters);
      values.push_back(name + " = " + (value.empty() ? "(nothing)" : value) + place);
    }
    if (where.empty())
      where = parameters.source.empty() ? "parameters" : parameters.source;
    throw ParameterError(prefix(where) + join(values, ", ") + ": " + text);
  }

  double number_of_dofs(const Problem &problem, int degree, int refinements)
  {
    double n = 1.;
    for (int d = 0; d < problem.dim; ++d)
      n *= std::ldexp(static_cast<double>(problem.coarse_cells[static_cast<std::size_t>(d)]),
               refinements) *
          (degree + 1);
    return n;
  }

  void check_box(const Parameters &p, const Origins &origins)
  {
    const Problem &problem = p.problem;
    for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d)
    {
      const std::string direction(1, "xyz"[d]);
      const double length = problem.upper[d] - problem.lower[d];
      if (!(length > 0.) || !std::isfinite(length))
        fail(p, origins, {"problem.lower", "problem.upper"},
            "the box has the length " + to_text(length) + " in " + direction +
                "; allowed: lower < upper in every direction");
    }
    if (number_of_dofs(problem, problem.degree, problem.refinements) > max_dofs)
      fail(p, origins,
          {"problem.coarse_cells", "problem.refinements", "problem.degree", "problem.dimension"},
          "these are more than 2^62 degrees of freedom");
    for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d)
    {
      const double h = problem.cell_size(static_cast<int>(d));
      // Beyond these bounds 1/h^2 leaves the range of double precision, or neighbouring vertices are
      // the same number.
      const bool has_vertices = problem.lower[d] + 0.5 * h > problem.lower[d] &&
          problem.upper[d] - 0.5 * h < problem.upper[d];
      if (!(h > 1e-100 && h < 1e100) || !has_vertices)
        fail(p, origins,
            {"problem.lower", "problem.upper", "problem.coarse_cells", "problem.refinements"},
            "cells of the size " + to_text(h) + " cannot be resolved in double precision");
    }
  }

  void check_boundary(const Parameters &p, const Origins &origins)
  {
    const Problem &problem = p.problem;
    for (std::size_t s = 0; s < side_names.size(); ++s)
    {
      const std::string side = std::string("boundary.") + side_names[s];
      const std::string opposite = std::string("boundary.") + side_names[s ^ 1];
      const bool has_value = problem.boundary_value[s] != "0";
      if (s >= 2 * static_cast<std::size_t>(problem.dim))
      {
        if (problem.boundary[s] != BoundaryKind::dirichlet)
          fail(p, origins, {side, "problem.dimension"}, "this side exists in 3 dimensions only");
        if (has_value)
          fail(p, origins, {side + "_value", "problem.dimension"},
              "this side exists in 3 dimensions only");
        continue;
      }
      if (problem.boundary[s] != BoundaryKind::periodic)
        continue;
      if (problem.boundary[s ^ 1] != BoundaryKind::periodic)
        fail(p, origins, {side, opposite},
            "a direction is periodic on both of its sides or on none");
      if (has_value)
        fail(p, origins, {side, side + "_value"},
            "a periodic side has no value; allowed: 0, or no " + side + "_value at all");
    }
  }

  void check_solver(const Parameters &p, const Origins &origins)
  {
    if (p.solver.solver == OuterSolver::direct && p.solver.full_multigrid)
      fail(p, origins, {"solver.solver", "solver.full_multigrid"},
          "a direct solve has no start value; allowed: full_multigrid = false, or solver = fgmres or "
          "cg");
    if (!p.problem.initial_guess.empty() && p.solver.solver == OuterSolver::direct)
      fail(p, origins, {"problem.initial_guess", "solver.solver"},
          "a direct solve has no start value; allowed: no initial_guess, or solver = fgmres or cg");
    if (!p.problem.initial_guess.empty() && p.solver.full_multigrid)
      fail(p, origins, {"problem.initial_guess", "solver.full_multigrid"},
          "full multigrid makes a start value of its own; allowed: no initial_guess, or full_multigrid = false");
    const MultigridOptions &multigrid = p.solver.multigrid;
    if (multigrid.single_levels > 0 && !multigrid.is_below_single())
      fail(p, origins, {"multigrid.single_levels", "multigrid.precision"},
          "no level has shorter numbers than those of single; allowed: 0, or precision = half, 2xfp16 or tf32");
    if (multigrid.single_levels > p.problem.refinements)
      fail(p, origins, {"multigrid.single_levels", "problem.refinements"},
          "the finest level, number " + std::to_string(p.problem.refinements) +
              ", keeps multigrid.precision; allowed: at most problem.refinements");
  }

  void check_output(const Parameters &p, const Origins &origins)
  {
    if (!p.output.vtu_lower && !p.output.vtu_upper)
      return;
    const auto lower = p.output.vtu_lower.value_or(p.problem.lower),
               upper = p.output.vtu_upper.value_or(p.problem.upper);
    for (std::size_t d = 0; d < static_cast<std::size_t>(p.problem.dim); ++d)
      if (!(std::max(lower[d], p.problem.lower[d]) < std::min(upper[d], p.problem.upper[d])))
        fail(p, origins, {"output.vtu_lower", "output.vtu_upper", "problem.lower", "problem.upper"},
            std::string("nothing of the box lies between these in ") + "xyz"[d] +
                "; allowed: a part of the box, vtu_lower < vtu_upper");
  }

  void check_diagnose(const Parameters &p, const Origins &origins)
  {
    if (p.diagnose.matrices.empty() && p.diagnose.matrix_files.empty())
      fail(p, origins, {"diagnose.matrices", "diagnose.matrix_files"},
          "no matrix is left for spmv; allowed: nothing in one of the two");
  }

  /// While it lives, what is written to std::cerr lands in text(). deal.II's parser prints there
  /// before it throws; the message to the user shall be the only one.
  class CapturedErrors
  {
  public:
    CapturedErrors()
      : before_(std::cerr.rdbuf(stream_.rdbuf()))
    {}
    ~CapturedErrors() { std::cerr.rdbuf(before_); }
    CapturedErrors(const CapturedErrors &) = delete;
    CapturedErrors &operator=(const CapturedErrors &) = delete;
    std::string text() const { return stream_.str(); }

  private:
    std::ostringstream stream_;
    std::streambuf *before_;
  };

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

  /// muParser's words from deal.II's exception, with the position from what deal.II prints.
  std::string parser_message(const std::string &exception, const std::string &printed)
  {
    const std::string marker = "The parser said: ";
    std::string message = exception;
    if (const std::size_t begin = exception.find(marker); begin != std::string::npos)
      message = exception.substr(begin + marker.size());
    message = trim(message.substr(0, message.find('\n')));
    if (!message.empty() && message.back() == '.')
      message.pop_back();
    const std::string position = "Position: <";
    if (const std::size_t begin = printed.find(position);
        begin != std::string::npos && message.find("position") == std::string::npos)
    {
      const std::size_t digits = begin + position.size();
      message += " at position " + printed.substr(digits, printed.find('>', digits) - digits);
    }
    return message;
  }

  /// What is wrong with the expression, also in its value at the point; empty if nothing.
  template <int dim>
  std::string complaint_about(const std::string &expression, const Problem &problem,
      const std::array<double, 3> &point, const std::string &place)
  {
    if (std::string complaint = suspicious(expression); !complaint.empty())
      return complaint;
    Point<dim> x;
    std::vector<std::string> coordinates;
    for (std::size_t d = 0; d < dim; ++d)
    {
      x[static_cast<unsigned int>(d)] = point[d];
      coordinates.push_back(to_text(point[d]));
    }
    const CapturedErrors errors;
    try
    {
      FunctionParser<dim> function(1);
      function.initialize(
          FunctionParser<dim>::default_variable_names(), expression, problem.constants);
      const double value = function.value(x);
      return std::isfinite(value) ? ""
                                  : "is " + std::string(std::isnan(value) ? "nan" : "infinite") +
              " at (" + join(coordinates, ", ") + "), the centre of " + place;
    }
    catch (const dealii::ExceptionBase &error)
    {
      std::ostringstream info;
      error.print_info(info);
      return "cannot be parsed: " + parser_message(info.str(), errors.text());
    }
    catch (...) // muParser's own exceptions, which know no std::exception
    {
      return "cannot be parsed";
    }
  }

  void check_expression(const Parameters &p, const Origins &origins, const std::string &name,
      const std::string &expression, const std::array<double, 3> &point, const std::string &place)
  {
    const Problem &problem = p.problem;
    const std::string complaint = problem.dim == 2
        ? complaint_about<2>(expression, problem, point, place)
        : complaint_about<3>(expression, problem, point, place);
    if (complaint.empty())
      return;
    std::vector<std::string> constants;
    for (const auto &constant : problem.constants)
      constants.push_back(constant.first);
    const auto origin = origins.find(name);
    throw ParameterError(prefix(origin != origins.end() ? origin->second : p.source) + name +
        " = '" + expression + "' " + complaint + "; allowed: an expression in " +
        (problem.dim == 2 ? "x, y" : "x, y, z") + " and the constants " + join(constants, ", "));
  }

  void check_expressions(const Parameters &p, const Origins &origins)
  {
    const Problem &problem = p.problem;
    std::array<double, 3> centre{};
    for (std::size_t d = 0; d < 3; ++d)
      centre[d] = problem.lower[d] + 0.5 * (problem.upper[d] - problem.lower[d]);

    check_expression(
        p, origins, "problem.right_hand_side", problem.right_hand_side, centre, "the box");
    if (!problem.initial_guess.empty())
      check_expression(
          p, origins, "problem.initial_guess", problem.initial_guess, centre, "the box");
    if (!problem.exact_solution.empty())
      check_expression(
          p, origins, "problem.exact_solution", problem.exact_solution, centre, "the box");
    if (!problem.exact_gradient[0].empty())
    {
      if (problem.exact_solution.empty())
        fail(p, origins, {"problem.exact_gradient", "problem.exact_solution"},
            "a gradient without a solution; allowed: both or none");
      for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d)
        check_expression(
            p, origins, "problem.exact_gradient", problem.exact_gradient[d], centre, "the box");
    }
    for (std::size_t s = 0; s < 2 * static_cast<std::size_t>(problem.dim); ++s)
    {
      if (problem.boundary[s] == BoundaryKind::periodic)
        continue;
      std::array<double, 3> point = centre;
      point[s / 2] = s % 2 == 0 ? problem.lower[s / 2] : problem.upper[s / 2];
      const std::string side = side_names[s];
      check_expression(p, origins, "boundary." + side + "_value", problem.boundary_value[s], point,
          "the side " + side);
    }
  }
} // namespace

void check_parameters(const Parameters &parameters, const Origins &origins)
{
  check_box(parameters, origins);
  check_boundary(parameters, origins);
  check_solver(parameters, origins);
  check_output(parameters, origins);
  check_diagnose(parameters, origins);
  check_expressions(parameters, origins);
}

void check_for_converge(const Parameters &parameters)
{
  const ConvergeOptions &converge = parameters.converge;
  if (parameters.problem.exact_solution.empty())
    fail(parameters, {}, {"problem.exact_solution"},
        "a convergence study needs problem.exact_solution to compute errors");
  if (converge.check_orders && converge.refinements.size() < 2)
    fail(parameters, {}, {"converge.refinements", "converge.check_orders"},
        "an order needs two refinements; allowed: a longer list, or check_orders = false");
  if (number_of_dofs(parameters.problem, converge.degrees.back(), converge.refinements.back()) >
      max_dofs)
    fail(parameters, {}, {"problem.coarse_cells", "converge.refinements", "converge.degrees"},
        "these are more than 2^62 degrees of freedom");
}
} // namespace tensormg
