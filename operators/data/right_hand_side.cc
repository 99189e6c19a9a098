#include "operators/data/right_hand_side.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <mpi.h>

#include "operators/data/errors.h"
#include "operators/data/functions.h"
#include "operators/data/tensor_rule.h"

namespace tensormg
{
namespace
{
  /// True if side s of the box is a side of this rank's block, and not a periodic one.
  bool has_boundary(const Problem &problem, const LevelGrid &grid, int side)
  {
    const int d = side / 2;
    if (problem.boundary[side] == BoundaryKind::periodic)
      return false;
    return side % 2 == 0 ? grid.offset[d] == 0
                         : grid.offset[d] + grid.block.cells[d] == grid.global_cells[d];
  }

  /// Calls use(function of `expression`); what goes wrong with the function gets the parameter's name.
  template <typename Use>
  auto with_function(
      const Problem &problem, const std::string &key, const std::string &expression, Use &&use)
  {
    try
    {
      return use(scalar_function(problem, expression));
    }
    catch (const ExpressionError &error)
    {
      throw ExpressionError(key, error.expression(), error.reason());
    }
  }

  template <typename Use>
  auto with_right_hand_side(const Problem &problem, Use &&use)
  {
    return with_function(problem, "problem.right_hand_side", problem.right_hand_side, use);
  }

  template <typename Use>
  auto with_boundary_value(const Problem &problem, int side, Use &&use)
  {
    return with_function(problem, "boundary." + std::string(side_names[side]) + "_value",
        problem.boundary_value[side], use);
  }

  /// What the value on a side contributes to the modes across it. At the lower end the value of odd
  /// modes and the outward derivative 2 h_i of even ones change sign against the upper end.
  std::array<double, max_n> side_factors(const CellBasis &basis, BoundaryKind kind, int end)
  {
    std::array<double, max_n> factors{};
    for (int i = 0; i < basis.n; ++i)
    {
      const double sign = end == 0 && i % 2 == 1 ? -1. : 1.;
      factors[i] = sign * (kind == BoundaryKind::dirichlet ? -2. * basis.g[i] : basis.v[i]);
    }
    return factors;
  }

  TensorRule side_rule(const LevelGrid &grid, const CellBasis &basis, int side, BoundaryKind kind,
      const LineRule &line)
  {
    TensorRule rule = tensor_rule(grid.block, line);
    rule[side / 2] = end_rule(basis, side % 2, side_factors(basis, kind, side % 2));
    return rule;
  }
} // namespace

void visit_right_hand_side(const Problem &problem, const LevelGrid &grid, const CellBasis &basis,
    const RightHandSideTerm &use)
{
  const Block &block = grid.block;
  const double length = grid.reference_length();
  const LineRule line = gauss_rule(basis, basis.n + 1);
  with_right_hand_side(problem, [&](const ScalarFunction &f) {
    use(f, all_cells(block), tensor_rule(block, line), length * length / problem.coefficient,
        volume_factor(grid));
  });

  for (int side = 0; side < 2 * problem.dim; ++side)
    if (has_boundary(problem, grid, side))
    {
      const BoundaryKind kind = problem.boundary[side];
      const int d = side / 2;
      const double h = grid.mean_cell_size(d);
      const bool is_dirichlet = kind == BoundaryKind::dirichlet;
      const bool has_cells = is_dirichlet && grid.cells != nullptr;
      const double scale = is_dirichlet
          ? (length / h) * (length / h) / (has_cells ? problem.coefficient : 1.)
          : length * length / (problem.coefficient * h);
      CellFactor factor = area_factor(grid, d);
      if (is_dirichlet)
        factor = product(std::move(factor), inverse_size_factor(grid, d));
      if (has_cells)
        factor = product(std::move(factor),
            [&k = grid.cells->of_direction(d)](auto... cell) { return k(cell...); });
      with_boundary_value(problem, side, [&](const ScalarFunction &f) {
        use(f, side_cells(block, side), side_rule(grid, basis, side, kind, line), scale, factor);
      });
    }
}

void visit_initial_guess(const Problem &problem, const LevelGrid &grid, const CellBasis &basis,
    const RightHandSideTerm &use)
{
  with_function(
      problem, "problem.initial_guess", problem.initial_guess, [&](const ScalarFunction &f) {
        use(f, all_cells(grid.block), tensor_rule(grid.block, gauss_rule(basis, basis.n + 1)), 1.,
            {});
      });
}

namespace
{
  /// The sum of the terms that visit(use) calls use() for.
  template <typename Visit>
  void assemble(const LevelGrid &grid, Vector<double> &result, Visit &&visit)
  {
    const Block &block = grid.block;
    if (result.block() == block && result.size() == block.size())
      std::fill_n(result.data(), result.size(), 0.);
    else
      result = Vector<double>(block);
    visit([&](const ScalarFunction &f, const CellRange &range, const TensorRule &rule, double scale,
              const CellFactor &factor) {
      add_projection(grid, f, range, rule, scale, result, factor);
    });
  }
} // namespace

void assemble_right_hand_side(
    const Problem &problem, const LevelGrid &grid, const CellBasis &basis, Vector<double> &b)
{
  assemble(grid, b,
      [&](const RightHandSideTerm &use) { visit_right_hand_side(problem, grid, basis, use); });
}

void project_initial_guess(
    const Problem &problem, const LevelGrid &grid, const CellBasis &basis, Vector<double> &x)
{
  assemble(grid, x,
      [&](const RightHandSideTerm &use) { visit_initial_guess(problem, grid, basis, use); });
}

Balance balance(const Problem &problem, const LevelGrid &grid, const CellBasis &basis, int n_points,
    const Integrator &by)
{
  const Block &block = grid.block;
  const LineRule line = gauss_rule(basis, n_points);
  const double cell_volume = grid.mean_cell_volume();
  const Integral inside = with_right_hand_side(problem, [&](const ScalarFunction &f) {
    return by(grid, f, all_cells(block), tensor_rule(block, line), volume_factor(grid));
  });
  std::array<double, 2> sums{cell_volume * inside.value, cell_volume * inside.magnitude};
  for (int side = 0; side < 2 * problem.dim; ++side)
    if (problem.boundary[side] == BoundaryKind::neumann && has_boundary(problem, grid, side))
    {
      const Integral flux = with_boundary_value(problem, side, [&](const ScalarFunction &g) {
        return by(grid, g, side_cells(block, side),
            side_rule(grid, basis, side, BoundaryKind::neumann, line), area_factor(grid, side / 2));
      });
      const double area = cell_volume / grid.mean_cell_size(side / 2);
      sums[0] += area * flux.value;
      sums[1] += area * flux.magnitude;
    }
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, grid.communicator);
  return {sums[0], sums[1]};
}

double incompatibility(const Problem &problem, const LevelGrid &grid, const CellBasis &basis,
    int n_points, const Integrator &by)
{
  return balance(problem, grid, basis, n_points, by).defect();
}

Balance check_compatible(
    const Problem &problem, const LevelGrid &grid, const CellBasis &basis, const Integrator &by)
{
  if (!problem.is_singular())
    return {};
  const Balance found = balance(problem, grid, basis, basis.n + 1, by);
  const double defect = found.defect();
  if (!std::isfinite(defect) || std::abs(defect) <= compatibility_tolerance)
    return found;
  const double finer = incompatibility(problem, grid, basis, basis.n + 4, by);
  const double tolerance = compatibility_tolerance + 4. * std::abs(finer - defect);
  if (!(std::abs(finer) > tolerance))
    return found;
  std::ostringstream message;
  message << "the problem has no solution: without a Dirichlet side the integrals of the "
             "right-hand side and of the Neumann fluxes must cancel, but their sum is "
          << finer << " of the integral of their magnitudes (tolerance " << tolerance << ")";
  throw std::invalid_argument(message.str());
}

double subtract_constant(const LevelGrid &grid, const CellBasis &basis, Vector<double> &b)
{
  const double mean = mean_of_cells(grid, basis, b);
  add_projection(grid, ScalarFunction("1", 3), all_cells(grid.block),
      tensor_rule(grid.block, gauss_rule(basis, basis.n)), -mean, b);
  return mean;
}
} // namespace tensormg
