#include "operators/grid.h"

#include <algorithm>
#include <limits>

namespace tensormg
{
double LevelGrid::reference_length() const
{
  double length = std::numeric_limits<double>::max();
  for (int d = 0; d < block.dim; ++d)
    length = std::min(length, cell_size[d]);
  return length;
}

std::array<double, 3> LevelGrid::direction_factors() const
{
  std::array<double, 3> factors{0., 0., 0.};
  for (int d = 0; d < block.dim; ++d)
    factors[d] = (reference_length() / cell_size[d]) * (reference_length() / cell_size[d]);
  return factors;
}

std::int64_t LevelGrid::global_dofs() const
{
  return global_cells[0] * global_cells[1] * global_cells[2] * block.dofs_per_cell();
}

namespace
{
  /// Levels with fewer degrees of freedom than this per rank are cheaper to compute everywhere than to
  /// communicate about.
  constexpr std::int64_t min_dofs_per_rank = 8192;

  std::array<std::int64_t, 3> cells_on_level(const Problem &problem, int level)
  {
    std::array<std::int64_t, 3> cells{1, 1, 1};
    for (int d = 0; d < problem.dim; ++d)
      cells[d] = problem.coarse_cells[d] << level;
    return cells;
  }

  /// The division of y and z into ranks with the fewest cells on the fullest rank, then the smallest
  /// surface.
  std::array<int, 3> divide(const std::array<std::int64_t, 3> &cells, int dim, int n_ranks)
  {
    std::array<int, 3> best{1, n_ranks, 1};
    std::int64_t best_cost = std::numeric_limits<std::int64_t>::max();
    for (int z = 1; z <= (dim == 3 ? n_ranks : 1); ++z)
    {
      if (n_ranks % z != 0)
        continue;
      const int y = n_ranks / z;
      const std::int64_t ly = (cells[1] + y - 1) / y, lz = (cells[2] + z - 1) / z;
      // A cell of volume weighs more than a cell of surface; ties go to slabs in z.
      const std::int64_t cost = 8 * ly * lz + (y > 1 ? 2 * lz : 0) + (z > 1 ? 2 * ly : 0);
      if (y <= cells[1] && z <= cells[2] && cost <= best_cost)
      {
        best_cost = cost;
        best = {1, y, z};
      }
    }
    return best;
  }

  std::int64_t first_cell(std::int64_t cells, int part, int parts) { return cells * part / parts; }
} // namespace

Grid make_grid(const Problem &problem, MPI_Comm communicator)
{
  Grid grid;
  grid.problem = problem;
  grid.communicator = communicator;
  MPI_Comm_rank(communicator, &grid.rank);
  MPI_Comm_size(communicator, &grid.n_ranks);
  const int finest = problem.refinements;
  grid.ranks_per_direction = divide(cells_on_level(problem, finest), problem.dim, grid.n_ranks);
  const auto &parts = grid.ranks_per_direction;

  // The coarsest distributed level: every rank has cells, four per direction if the finest allows that.
  // Borders are drawn on the next coarser level, so that they are even on every distributed one.
  const auto can_distribute = [&](int level, std::int64_t per_rank) {
    const auto cells = cells_on_level(problem, std::max(level - 1, 0));
    const std::int64_t needed = level > 0 ? (per_rank + 1) / 2 : per_rank;
    return (parts[1] == 1 || cells[1] >= needed * parts[1]) &&
        (parts[2] == 1 || cells[2] >= needed * parts[2]);
  };
  int coarsest_distributed = finest + 1;
  if (grid.n_ranks > 1 && can_distribute(finest, 1))
  {
    coarsest_distributed = finest;
    for (int level = finest; level >= 0; --level)
    {
      const Block whole(problem.dim, problem.degree, cells_on_level(problem, level));
      if (can_distribute(level, 4) && whole.dofs() >= min_dofs_per_rank * grid.n_ranks)
        coarsest_distributed = level;
    }
  }
  const bool serial = grid.n_ranks == 1;

  const std::array<int, 3> part{0, grid.rank % parts[1], grid.rank / parts[1]};
  for (int level = 0; level <= finest; ++level)
  {
    LevelGrid l;
    l.global_cells = cells_on_level(problem, level);
    l.lower = problem.lower;
    l.replicated = !serial && level < coarsest_distributed;
    const bool divided = !serial && !l.replicated;
    l.communicator = divided ? communicator : MPI_COMM_SELF;
    std::array<std::int64_t, 3> cells = l.global_cells;
    for (int d = 0; d < problem.dim; ++d)
    {
      l.cell_size[d] =
          (problem.upper[d] - problem.lower[d]) / static_cast<double>(l.global_cells[d]);
      if (divided && parts[d] > 1)
      {
        const int border_level = std::max(coarsest_distributed - 1, 0);
        const auto coarse = cells_on_level(problem, border_level);
        const int shift = level - border_level;
        l.offset[d] = first_cell(coarse[d], part[d], parts[d]) << shift;
        cells[d] = (first_cell(coarse[d], part[d] + 1, parts[d]) << shift) - l.offset[d];
      }
    }
    l.block = Block(problem.dim, problem.degree, cells);
    for (int d = 0; d < problem.dim; ++d)
      for (int upper = 0; upper < 2; ++upper)
      {
        const int s = 2 * d + upper;
        const bool at_end = upper ? l.offset[d] + cells[d] == l.global_cells[d] : l.offset[d] == 0;
        const bool periodic = problem.boundary[s] == BoundaryKind::periodic;
        if (at_end && !periodic)
          l.sides[s] =
              problem.boundary[s] == BoundaryKind::dirichlet ? Side::dirichlet : Side::neumann;
        else if (d == 0)
          l.sides[s] = Side::wrap;
        else
        {
          l.sides[s] = Side::ghost;
          std::array<int, 3> other = part;
          const int n_parts = divided ? parts[d] : 1;
          other[d] = (part[d] + (upper ? 1 : n_parts - 1)) % n_parts;
          l.neighbour[s] = divided ? other[1] + parts[1] * other[2] : grid.rank;
        }
      }
    grid.levels.push_back(l);
  }
  return grid;
}
} // namespace tensormg
