#include "operators/data/errors.h"

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <mpi.h>

#include "operators/data/functions.h"
#include "operators/data/tensor_rule.h"

namespace tensormg
{
double sum_over_ranks(const LevelGrid &grid, double value)
{
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, grid.communicator);
  return value;
}

double n_global_cells(const LevelGrid &grid)
{
  return static_cast<double>(grid.global_cells[0]) * static_cast<double>(grid.global_cells[1]) *
      static_cast<double>(grid.global_cells[2]);
}

namespace
{
  TensorRule error_rule(const LevelGrid &grid, const CellBasis &basis)
  {
    return tensor_rule(grid.block, gauss_rule(basis, basis.n + 2));
  }

  /// ErrorSums::squared_distance() of the local cells.
  double squared_distance(const LevelGrid &grid, const Difference &difference,
      const TensorRule &rule, const Vector<double> &u, const ScalarFunction &f)
  {
    const auto [direction, factor, shift, unit] = difference;
    const CellFactor volume = volume_factor(grid),
                     inverse_size =
                         direction >= 0 ? inverse_size_factor(grid, direction) : CellFactor();
    TileEvaluator evaluator;
    TilePoints points;
    std::vector<double> of_u, of_f, weights;
    double sum = 0.;
    for_each_tile(all_cells(grid.block), rule, [&](const Tile &tile) {
      evaluator.evaluate(u, rule, tile, direction, of_u);
      points.set(grid, rule, tile);
      points.evaluate(f, of_f);
      multiply_cells(tile, inverse_size, of_u);
      weights.assign(static_cast<std::size_t>(tile.count), 1.);
      multiply_cells(tile, volume, weights);
      double part = 0.;
      std::size_t q = 0;
      for (const double wz : rule[2].weights)
        for (const double wy : rule[1].weights)
          for (const double wx : rule[0].weights)
          {
            double line = 0.;
            for (std::int64_t c = 0; c < tile.count; ++c, ++q)
            {
              const double distance = unit * (factor * of_u[q] - of_f[q] - shift);
              line += weights[c] * (distance * distance);
            }
            part += wx * wy * wz * line;
          }
      sum += part;
    });
    return sum;
  }

  /// The square root of a sum of squares. If these leave the range of double precision, they are summed in another unit:
  /// numbers of 1e-300 have an error, too.
  double distance(
      const ErrorSums &sums, Difference difference, const TensorRule &rule, const ScalarFunction &f)
  {
    constexpr double least = 0x1p-700, most = 0x1p1000;
    constexpr double large_unit = 0x1p700, small_unit = 0x1p-700;
    const double sum = sums.squared_distance(difference, rule, f);
    if (sum > least && sum < most)
      return std::sqrt(sum);
    difference.unit = sum <= least ? large_unit : small_unit;
    return std::sqrt(sums.squared_distance(difference, rule, f)) / difference.unit;
  }
} // namespace

Errors errors_by(
    const Problem &problem, const LevelGrid &grid, const CellBasis &basis, const ErrorSums &sums)
{
  if (problem.exact_solution.empty())
    throw std::invalid_argument("errors need an exact solution, and none is given");
  int n_given = 0;
  for (int d = 0; d < problem.dim; ++d)
    n_given += !problem.exact_gradient[d].empty();
  if (n_given != 0 && n_given != problem.dim)
    throw std::invalid_argument("the exact gradient has " + std::to_string(n_given) +
        " components, but the dimension is " + std::to_string(problem.dim));

  const TensorRule rule = error_rule(grid, basis);
  const ScalarFunction exact = scalar_function(problem, problem.exact_solution);
  const double shift = problem.is_singular() ? sums.mean_difference(exact, rule) : 0.;

  Errors errors;
  const double volume = grid.mean_cell_volume();
  errors.l2 = std::sqrt(volume) * distance(sums, {.shift = shift}, rule, exact);
  errors.has_h1 = n_given == problem.dim;
  if (errors.has_h1)
  {
    double sum = 0.;
    for (int d = 0; d < problem.dim; ++d)
      sum = std::hypot(sum,
          distance(sums, {.direction = d, .factor = 1. / grid.mean_cell_size(d)}, rule,
              scalar_function(problem, problem.exact_gradient[d])));
    errors.h1_seminorm = std::sqrt(volume) * sum;
  }
  return errors;
}

Errors compute_errors(
    const Problem &problem, const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u)
{
  const auto mean = [&](const ScalarFunction &, const TensorRule &) {
    return mean_difference(problem, grid, basis, u);
  };
  const auto squares = [&](const Difference &difference, const TensorRule &rule,
                           const ScalarFunction &f) {
    return sum_over_ranks(grid, squared_distance(grid, difference, rule, u, f));
  };
  return errors_by(problem, grid, basis, {mean, squares});
}

double mean_difference(
    const Problem &problem, const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u)
{
  if (!problem.is_singular())
    return 0.;
  const ScalarFunction exact = scalar_function(problem, problem.exact_solution);
  const TensorRule rule = error_rule(grid, basis);
  const double integral =
      integrate(grid, exact, all_cells(grid.block), rule, volume_factor(grid)).value;
  return mean_value(grid, basis, u) - sum_over_ranks(grid, integral) / n_global_cells(grid);
}

namespace
{
  /// The mean over cells of factor times the mean in the cell.
  double mean_with(const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u,
      const CellFactor &factor)
  {
    const Block &block = grid.block;
    const int n = basis.n;
    // The mean of phi_i is its coefficient of the constant Legendre polynomial; odd modes have none.
    double sum = 0.;
    for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
      for (int k = 0; k < block.nz(); k += 2)
        for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
          for (int j = 0; j < n; j += 2)
          {
            double row = 0.;
            for (int i = 0; i < n; i += 2)
            {
              const double *values = u.data() + block.index(0, cy, cz, i, j, k);
              double of_mode = 0.;
              for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
                of_mode += factor ? factor(cx, cy, cz) * values[cx] : values[cx];
              row += basis.legendre[i] * of_mode;
            }
            sum += row * basis.legendre[j] * (block.dim == 3 ? basis.legendre[k] : 1.);
          }
    return sum_over_ranks(grid, sum) / n_global_cells(grid);
  }
} // namespace

double mean_value(const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u)
{
  return mean_with(grid, basis, u, volume_factor(grid));
}

double mean_of_cells(const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u)
{
  return mean_with(grid, basis, u, {});
}

double subtract_mean(const LevelGrid &grid, const CellBasis &basis, Vector<double> &u)
{
  const double mean = mean_value(grid, basis, u);
  add_projection(grid, ScalarFunction("1", 3), all_cells(grid.block),
      tensor_rule(grid.block, gauss_rule(basis, basis.n)), -mean, u);
  return mean;
}

Vector<double> project(const Problem &problem, const LevelGrid &grid, const CellBasis &basis,
    const std::string &expression)
{
  Vector<double> result(grid.block);
  add_projection(grid, scalar_function(problem, expression), all_cells(grid.block),
      tensor_rule(grid.block, gauss_rule(basis, basis.n + 2)), 1., result);
  return result;
}
} // namespace tensormg
