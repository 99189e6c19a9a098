#include "operators/multigrid/smoothing_choices.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/transfer/transfer.h"

namespace tensormg
{
double smallest_eigenvalue(const Grid &grid)
{
  const auto factors = grid.finest().direction_factors();
  double sum = 0., smallest = INFINITY;
  for (int d = 0; d < grid.problem.dim; ++d)
  {
    const double cells = static_cast<double>(grid.finest().global_cells[d]);
    const BoundaryKind lower = grid.problem.boundary[2 * d],
                       upper = grid.problem.boundary[2 * d + 1];
    const int n_dirichlet = (lower == BoundaryKind::dirichlet) + (upper == BoundaryKind::dirichlet);
    const double half_waves = n_dirichlet == 1 ? 0.5 : lower == BoundaryKind::periodic ? 2. : 1.;
    const double value = factors[d] * std::pow(half_waves * std::numbers::pi / cells, 2);
    smallest = std::min(smallest, value);
    if (n_dirichlet > 0)
      sum += value;
  }
  return sum > 0. ? sum : smallest;
}

double largest_eigenvalue_bound(const Grid &grid, const CellBasis &basis)
{
  // B <= 2 D in every direction.
  const auto factors = grid.finest().direction_factors();
  const double largest = *std::max_element(basis.lambda.begin(), basis.lambda.begin() + basis.n);
  return 2. * largest * (factors[0] + factors[1] + factors[2]);
}

double condition_number(const Grid &grid, const CellBasis &basis)
{
  return largest_eigenvalue_bound(grid, basis) / smallest_eigenvalue(grid);
}

bool needs_double(const Grid &grid, const CellBasis &basis)
{
  constexpr double most = 5e7;
  const auto factors = grid.finest().direction_factors();
  const double shortest = *std::min_element(factors.begin(), factors.begin() + grid.problem.dim);
  return shortest < 1. / (alike_cells * alike_cells) && condition_number(grid, basis) > most;
}

MultigridOptions with_chosen_precision(
    MultigridOptions options, const Grid &grid, const CellBasis &basis)
{
  if (options.precision == Precision::automatic)
    options.precision =
        needs_double(grid, basis) ? Precision::double_precision : Precision::single_precision;
  return options;
}

std::size_t representative_level(const Grid &grid, std::size_t l)
{
  constexpr std::int64_t representative_cells = 8;
  if (grid.levels[l].has_exact_directions())
    return l;
  for (std::size_t coarser = 0; coarser < l; ++coarser)
  {
    const LevelGrid &level = grid.levels[coarser];
    bool is_representative = !level.has_exact_directions();
    for (int d = 0; d < grid.problem.dim; ++d)
      if (level.global_cells[d] < representative_cells)
        is_representative = false;
    if (is_representative)
      return coarser;
  }
  return l;
}

Block between_directions(const Grid &grid, std::size_t l)
{
  const LevelGrid &level = grid.levels[l];
  const Block coarse(grid.problem.dim, grid.problem.degree,
      cells_below(level.block.cells, level, grid.levels[l - 1]));
  return transfer::between(level.block, coarse);
}

std::int64_t stretched_level_memory(
    const Grid &grid, std::size_t l, const MultigridOptions &options)
{
  const LevelGrid &level = grid.levels[l];
  const std::int64_t number = bytes_per_number(options.precision),
                     computed = std::max<std::int64_t>(number, sizeof(float));
  std::int64_t bytes = computed * between_directions(grid, l).size();
  if (!level.has_exact_directions() || !has_exact_steps(options_of_level(options, level)))
    return bytes;
  bytes += level.block.size() * number; // the residual
  for (int d = 0; d < grid.problem.dim; ++d)
    if (level.exact[d])
    {
      const std::int64_t line = level.block.cells[d] * level.block.n;
      // Numbers on their way; both matrices, and in FP64 those that levels share.
      bytes += level.block.size() * computed +
          line * line * (2 * computed + static_cast<std::int64_t>(sizeof(double)));
    }
  return bytes;
}

MultigridOptions options_of_level(MultigridOptions options, const LevelGrid &level)
{
  bool fits = true;
  for (int d = 0; d < level.block.dim; ++d)
    fits = fits && (!level.exact[d] || level.global_cells[d] <= 2);
  if (options.smoother == Smoother::patch && !fits)
  {
    options.smoother = Smoother::chebyshev;
    options.chebyshev_kind = ChebyshevKind::fourth;
    options.degree = 4;
  }
  return options;
}

bool needs_lambda_max(const MultigridOptions &options)
{
  if (options.smoother == Smoother::patch)
    return options.schwarz_kind == SchwarzKind::additive && options.damping == 0.;
  return options.smoother == Smoother::chebyshev || options.damping == 0.;
}

std::vector<ThreeTermStep> smoothing_steps(const MultigridOptions &options, double lambda_max)
{
  if (options.smoother == Smoother::chebyshev)
    return options.chebyshev_kind == ChebyshevKind::fourth
        ? chebyshev_fourth_kind(options.degree, lambda_max)
        : chebyshev_first_kind(options.degree, lambda_max, options.smoothing_range);
  // 4/3 / lambda_max minimises the largest |1 - omega lambda| on the upper half.
  return damped_jacobi(
      options.degree, options.damping > 0. ? options.damping : 4. / 3. / lambda_max);
}
} // namespace tensormg
