#include "apps/parameters/checks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/parameters/file.h"
#include "apps/parameters/mesh.h"
#include "apps/parameters/table.h"
#include "apps/parameters/text.h"
#include "operators/mesh/grid.h"

namespace tensormg
{
namespace
{
  /// More degrees of freedom than this cannot be counted in 64 bits with room for sums.
  constexpr double max_dofs = 4.6e18; // about 2^62

  double number_of_dofs(const Problem &problem, int degree, int refinements)
  {
    double n = 1.;
    for (int d = 0; d < problem.dim; ++d)
      n *= std::ldexp(static_cast<double>(problem.coarse_cells[static_cast<std::size_t>(d)]),
               refinements) *
          (degree + 1);
    return n;
  }

} // namespace

void check_box(const Parameters &p)
{
  const Problem &problem = p.problem;
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d)
  {
    const std::string direction(1, "xyz"[d]);
    const double length = problem.upper[d] - problem.lower[d];
    if (!(length > 0.) || !std::isfinite(length))
      fail_for(p, {"problem.lower", "problem.upper"},
          "the box has the length " + to_text(length) + " in " + direction +
              "; allowed: lower < upper in every direction");
  }
  if (number_of_dofs(problem, problem.degree, problem.refinements) > max_dofs)
    fail_for(p,
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
      fail_for(p, {"problem.lower", "problem.upper", "problem.coarse_cells", "problem.refinements"},
          "cells of the size " + to_text(h) + " cannot be resolved in double precision");
  }
}

namespace
{
  void check_boundary(const Parameters &p)
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
          fail_for(p, {side, "problem.dimension"}, "this side exists in 3 dimensions only");
        for (const bool of_value : {true, false})
          if (of_value ? has_value : problem.robin_coefficient[s] != "1")
            fail_for(p, {side + (of_value ? "_value" : "_robin_coefficient"), "problem.dimension"},
                "this side exists in 3 dimensions only");
        continue;
      }
      if (problem.boundary[s] != BoundaryKind::robin && problem.robin_coefficient[s] != "1")
        fail_for(p, {side, side + "_robin_coefficient"},
            "only a robin side has such a coefficient; allowed: " + side + " = robin, or no " +
                side + "_robin_coefficient at all");
      if (problem.boundary[s] != BoundaryKind::periodic)
        continue;
      if (problem.boundary[s ^ 1] != BoundaryKind::periodic)
        fail_for(p, {side, opposite}, "a direction is periodic on both of its sides or on none");
      if (has_value)
        fail_for(p, {side, side + "_value"},
            "a periodic side has no value; allowed: 0, or no " + side + "_value at all");
    }
  }

  void check_solver(const Parameters &p)
  {
    if (p.solver.solver == OuterSolver::direct && p.solver.full_multigrid)
      fail_for(p, {"solver.solver", "solver.full_multigrid"},
          "a direct solve has no start value; allowed: full_multigrid = false, or solver = fgmres or "
          "cg");
    if (!p.problem.initial_guess.empty() && p.solver.solver == OuterSolver::direct)
      fail_for(p, {"problem.initial_guess", "solver.solver"},
          "a direct solve has no start value; allowed: no initial_guess, or solver = fgmres or cg");
    if (!p.problem.initial_guess.empty() && p.solver.full_multigrid)
      fail_for(p, {"problem.initial_guess", "solver.full_multigrid"},
          "full multigrid makes a start value of its own; allowed: no initial_guess, or full_multigrid = false");
    const MultigridOptions &multigrid = p.solver.multigrid;
    if (multigrid.single_levels > 0 && !multigrid.is_below_single())
      fail_for(p, {"multigrid.single_levels", "multigrid.precision"},
          "no level has shorter numbers than those of single; allowed: 0, or precision = half, 2xfp16 or tf32");
    if (multigrid.single_levels == 0 || has_blocks(p)) // whoever has the levels looks
      return;
    const auto finest = static_cast<int>(level_shapes(p.problem).size()) - 1;
    if (multigrid.single_levels > finest)
      fail_for(p, {"multigrid.single_levels", "problem.refinements"},
          "the finest level, number " + std::to_string(finest) +
              ", keeps multigrid.precision; allowed: at most " + std::to_string(finest));
  }

  /// Fields of integers are labels of materials, and nothing else.
  void check_materials(const Parameters &p)
  {
    bool has_labels = false;
    for (const std::string &part : p.problem.cell_coefficient)
      if (const auto field = p.fields.find(part);
          field != p.fields.end() && !field->second.labels.empty())
      {
        has_labels = true;
        if (p.materials.empty())
          fail_for(p, {"problem.coefficient", "problem.materials", "problem.fields"},
              "the field " + part + " has labels (" + field->second.labels +
                  "); allowed: materials = label: number, ... with all of them, or an array of float32 or float64");
      }
    if (!p.materials.empty() && !has_labels)
      fail_for(p, {"problem.materials", "problem.coefficient"},
          "no coefficient is a field of labels; allowed: no materials, or a coefficient of problem.fields that is an array "
          "of uint8, uint16 or int32");
  }

  /// The parameter that makes a problem cellwise, and what is allowed in its place.
  std::pair<std::string, std::string> reason_of_cells(const Problem &problem)
  {
    if (!problem.cell_coefficient[0].empty())
      return {"problem.coefficient", "a number"};
    if (!problem.reaction.empty())
      return {"problem.reaction", "no reaction"};
    if (problem.is_graded())
      return {"problem.grading", "no grading"};
    const auto side =
        std::find(problem.boundary.begin(), problem.boundary.end(), BoundaryKind::robin);
    return {
        std::string("boundary.") + side_names[side - problem.boundary.begin()], "no robin side"};
  }

  /// What solvers cannot do where cells have numbers of their own.
  void check_cellwise(const Parameters &p)
  {
    check_materials(p);
    if (!p.problem.is_cellwise())
      return;
    const auto [key, otherwise] = reason_of_cells(p.problem);
    const std::string needed =
        " equal cells with one coefficient for the whole box, and neither reaction nor robin sides; allowed: ";
    if (p.solver.solver == OuterSolver::direct)
      fail_for(p, {"solver.solver", key},
          "the direct solver needs" + needed + "solver = fgmres or cg, or " + otherwise);
    if (p.solver.multigrid.smoother == Smoother::patch)
      fail_for(p, {"multigrid.smoother", key},
          "patches need" + needed + "smoother = chebyshev or jacobi, or " + otherwise);
  }

  void check_array(const Parameters &p)
  {
    if (!p.output.write_npy)
      return;
    if (p.output.vtu_coarsening > 0)
      fail_for(p, {"output.write_npy", "output.vtu_coarsening"},
          "an array has all values of the finest grid; allowed: vtu_coarsening = 0, or write_npy = false");
    if (p.output.name == "run")
      fail_for(p, {"output.name", "output.write_npy"},
          "the description of the array would have the name of the record run.json; allowed: another name");
  }

  void check_probe_lines(const Parameters &p)
  {
    if (has_blocks(p)) // whoever has the mesh looks
      return;
    for (std::size_t l = 0; l < p.output.probe_lines.size(); ++l)
    {
      const auto points = p.output.probe_lines[l].points();
      const bool is_outside = std::none_of(points.begin(), points.end(), [&](const auto &point) {
        bool inside = true;
        for (std::size_t d = 0; d < static_cast<std::size_t>(p.problem.dim); ++d)
          inside = inside && point[d] >= p.problem.lower[d] && point[d] <= p.problem.upper[d];
        return inside;
      });
      if (is_outside)
        fail_for(p, {"output.probe_lines", "problem.lower", "problem.upper"},
            "no point of line " + std::to_string(l + 1) +
                " lies in the box; allowed: lines with points in it");
    }
  }

  void check_probes(const Parameters &p)
  {
    for (const auto &[key, has_some] : {std::pair{"output.probes", !p.output.probes.empty()},
             std::pair{"output.probe_lines", !p.output.probe_lines.empty()}})
      if (has_some && p.output.vtu_coarsening > 0)
        fail_for(p, {key, "output.vtu_coarsening"},
            "probes are of the solution on the finest grid; allowed: vtu_coarsening = 0, or no probes");
    check_probe_lines(p);
    if (has_blocks(p)) // whoever has the mesh looks
      return;
    for (const std::array<double, 3> &point : p.output.probes)
      for (std::size_t d = 0; d < static_cast<std::size_t>(p.problem.dim); ++d)
        if (!(point[d] >= p.problem.lower[d] && point[d] <= p.problem.upper[d]))
          fail_for(p, {"output.probes", "problem.lower", "problem.upper"},
              std::string("a point with ") + "xyz"[d] + " = " + to_text(point[d]) +
                  " lies outside of the box; allowed: from " + to_text(p.problem.lower[d]) +
                  " to " + to_text(p.problem.upper[d]));
  }

  void check_output(const Parameters &p)
  {
    check_array(p);
    check_probes(p);
    if (!p.output.vtu_lower && !p.output.vtu_upper)
      return;
    const auto lower = p.output.vtu_lower.value_or(p.problem.lower),
               upper = p.output.vtu_upper.value_or(p.problem.upper);
    for (std::size_t d = 0; d < static_cast<std::size_t>(p.problem.dim); ++d)
      if (!(std::max(lower[d], p.problem.lower[d]) < std::min(upper[d], p.problem.upper[d])))
        fail_for(p, {"output.vtu_lower", "output.vtu_upper", "problem.lower", "problem.upper"},
            std::string("nothing of the box lies between these in ") + "xyz"[d] +
                "; allowed: a part of the box, vtu_lower < vtu_upper");
  }

  void check_diagnose(const Parameters &p)
  {
    if (p.diagnose.matrices.empty() && p.diagnose.matrix_files.empty())
      fail_for(p, {"diagnose.matrices", "diagnose.matrix_files"},
          "no matrix is left for spmv; allowed: nothing in one of the two");
  }
} // namespace

void fail_for(
    const Parameters &parameters, const std::vector<std::string> &names, const std::string &text)
{
  const auto &origins = parameters.origins;
  std::string where;
  for (const std::string &name : names)
    if (const auto origin = origins.find(name); where.empty() && origin != origins.end())
      where = origin->second;
  std::vector<std::string> values;
  for (const std::string &name : names)
  {
    const auto origin = origins.find(name);
    const std::string from = origin == origins.end() ? " (default)"
        : origin->second == where                    ? ""
                                                     : " (" + origin->second + ")";
    const std::string value = find_parameter(name)->write(parameters);
    values.push_back(name + " = " + (value.empty() ? "(nothing)" : cut(value)) + from);
  }
  if (where.empty())
    where = parameters.source.empty() ? "parameters" : parameters.source;
  throw ParameterError(prefix(where) + join(values, ", ") + ": " + text);
}

void check_parameters(const Parameters &parameters)
{
  check_mesh(parameters);
  check_boundary(parameters);
  check_solver(parameters);
  if (!has_blocks(parameters))
    check_cellwise(parameters);
  check_output(parameters);
  check_diagnose(parameters);
  check_expressions(parameters);
}

void check_for_converge(const Parameters &parameters)
{
  const ConvergeOptions &converge = parameters.converge;
  // On curved cells it has differences to finer solutions otherwise.
  const bool has_exact = !parameters.problem.exact_solution.empty();
  if (!has_exact && !has_blocks(parameters))
    fail_for(parameters, {"problem.exact_solution"},
        "a convergence study on a box needs problem.exact_solution to compute errors; allowed: that, or a finer solution in its place, with "
        "mesh.type = mapped and mesh.map = " +
            write_map({"x", "y", "z"}, parameters.problem.dim));
  if (converge.check_orders && converge.refinements.size() < 2)
    fail_for(parameters, {"converge.refinements", "converge.check_orders"},
        "an order needs two refinements; allowed: a longer list, or check_orders = false");
  if (number_of_dofs(parameters.problem, converge.degrees.back(),
          converge.refinements.back() + (has_exact ? 0 : 1)) > max_dofs)
    fail_for(parameters, {"problem.coarse_cells", "converge.refinements", "converge.degrees"},
        "these are more than 2^62 degrees of freedom");
}
} // namespace tensormg
