// The levels of a box and their distribution over the ranks of a communicator.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "kernels/core/block.h"
#include "operators/mesh/axis.h"
#include "operators/mesh/cell_data.h"
#include "tensormg/problem.h"

namespace tensormg
{
/// One level as one rank sees it. Either every rank holds a block of its own (distributed), or every
/// rank holds all cells and computes the same (replicated, used for coarse levels).
struct LevelGrid
{
  Block block; ///< the local cells
  std::array<std::int64_t, 3> global_cells{1, 1, 1};
  std::array<std::int64_t, 3> offset{0, 0, 0}; ///< global index of the first local cell
  std::array<Axis, 3> axis;                    ///< all cells of each direction
  /// Side of the local block by 2*d (lower) and 2*d+1 (upper).
  std::array<Side, 6> sides{};
  /// Rank that owns the neighbouring cells where sides[s] == Side::ghost (may be the own rank).
  std::array<int, 6> neighbour{-1, -1, -1, -1, -1, -1};
  bool replicated = false;
  /// Directions with short cells that cannot be halved any more: the smoother takes their one-dimensional operator exactly
  /// (operators/constant/line_inverse.h). All their cells are in the block.
  std::array<bool, 3> exact{false, false, false};
  /// Numbers of the cells; nullptr: they have the problem's coefficient, and no reaction.
  std::shared_ptr<const CellData> cells;
  /// Over which sums of local contributions are global ones; MPI_COMM_SELF if replicated.
  MPI_Comm communicator = MPI_COMM_SELF;

  /// Of all cells.
  double mean_cell_size(int d) const { return axis[static_cast<std::size_t>(d)].mean_size(); }
  double mean_cell_volume() const;
  bool has_equal_cells() const;
  /// Volume of a local cell / mean_cell_volume().
  double relative_volume(std::int64_t cx, std::int64_t cy, std::int64_t cz) const;

  /// min_d of the mean cell sizes h_d: the length by which the level's operator is made dimensionless.
  double reference_length() const;
  /// c_d = (reference_length / h_d)^2, the factor of direction d in the dimensionless operator; of graded cells that of mean ones.
  std::array<double, 3> direction_factors() const;
  /// Number of degrees of freedom on all ranks.
  std::int64_t global_dofs() const;
  bool has_exact_directions() const { return exact[0] || exact[1] || exact[2]; }
};

/// Cells less than so many times as long as the shortest ones count as alike.
inline constexpr double alike_cells = 1.5;

/// What a level is before it is distributed.
struct LevelShape
{
  std::array<std::int64_t, 3> cells{1, 1, 1};
  std::array<bool, 3> exact{false, false, false}; ///< LevelGrid::exact

  bool operator==(const LevelShape &) const = default;
};

/// The levels of a box, coarsest first; the finest has coarse_cells * 2^refinements cells per direction. Semicoarsening: to the
/// next coarser level only the directions with short cells (h_d < alike_cells * min h) are halved, until cells are about cubes; then all are,
/// each at most to coarse_cells. So a box of cubes has the levels coarse_cells * 2^l. The sizes of graded cells are the mean ones; neighbours
/// merge. A direction with short cells whose number is odd
/// (in the end one) is exact from that level down, and the others go on without it.
/// Source: U. Trottenberg, C. Oosterlee, A. Schueller, Multigrid (2001), section 5.1.
std::vector<LevelShape> level_shapes(const Problem &problem);

/// How a box is divided among ranks.
struct Division
{
  std::int64_t replicated_dofs =
      0; ///< levels with one coefficient or numbers of cells, the finest one, too, that have at most so many
  ///< unknowns lie on every rank, besides those that are too small in any case
  /// In 3D z alone is divided, if every rank gets so many layers of the finest level: traces lie together in memory, and what transposes a grid
  /// can. 0: the surface is what counts.
  std::int64_t least_layers = 0;
};
/// Of GPUs.
inline constexpr std::int64_t least_layers_of_devices = 16;

/// All levels, coarsest first: level_shapes().
/// Cells are divided in y and z only, in blocks whose borders are even on every distributed level
/// but the coarsest one; levels too small for that are replicated.
struct Grid
{
  Problem problem;
  Division division;
  MPI_Comm communicator = MPI_COMM_SELF;
  int rank = 0;
  int n_ranks = 1;
  std::array<int, 3> ranks_per_direction{1, 1, 1};
  std::vector<LevelGrid> levels;

  const LevelGrid &finest() const { return levels.back(); }
};

/// (H_c / H_f)^2 of a level and the next coarser one, by the sizes of the cells of the fine one: what one solution of B_c e = R r stands for (solvers/multigrid.h).
double coarsening_factor(const LevelGrid &fine, const LevelGrid &coarse);

/// In how many directions a cell of the coarser level has two children.
int halved_directions(const LevelGrid &fine, const LevelGrid &coarse);
/// The cells of the coarser level under `cells`, or the one that begins there, of the fine one.
std::array<std::int64_t, 3> cells_below(
    std::array<std::int64_t, 3> cells, const LevelGrid &fine, const LevelGrid &coarse);

/// What is wrong with problem.corners of direction d, whose box is right; empty: nothing.
std::string complaint_about_corners(const Problem &problem, int d);

/// Distributes the box of `problem` over `communicator`. A mesh with fewer cells in y and z than ranks
/// is replicated on every rank, on all levels.
Grid make_grid(const Problem &problem, MPI_Comm communicator, const Division &division = {});
} // namespace tensormg
