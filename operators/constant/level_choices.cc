#include "operators/constant/level_choices.h"

#include <algorithm>
#include <cmath>
#include <numbers>

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
  constexpr double most = 5e7, most_of_cells = 1e9;
  if (const CellData *cells = grid.finest().cells.get())
    return cells->largest_k / cells->smallest_k *
        *std::max_element(cells->strength.begin(), cells->strength.end()) >
        most_of_cells;
  const auto factors = grid.finest().direction_factors();
  const double shortest = *std::min_element(factors.begin(), factors.begin() + grid.problem.dim);
  return shortest < 1. / (alike_cells * alike_cells) && condition_number(grid, basis) > most;
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
} // namespace tensormg
