// The levels of a box and their distribution over the ranks of a communicator.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <mpi.h>

#include "kernels/core/block.h"
#include "operators/problem.h"

namespace tensormg
{
/// One level as one rank sees it. Either every rank holds a block of its own (distributed), or every
/// rank holds all cells and computes the same (replicated, used for coarse levels).
struct LevelGrid
{
  Block block; ///< the local cells
  std::array<std::int64_t, 3> global_cells{1, 1, 1};
  std::array<std::int64_t, 3> offset{0, 0, 0}; ///< global index of the first local cell
  std::array<double, 3> lower{0., 0., 0.};     ///< corner of the whole box
  std::array<double, 3> cell_size{1., 1., 1.};
  /// Side of the local block by 2*d (lower) and 2*d+1 (upper).
  std::array<Side, 6> sides{};
  /// Rank that owns the neighbouring cells where sides[s] == Side::ghost (may be the own rank).
  std::array<int, 6> neighbour{-1, -1, -1, -1, -1, -1};
  bool replicated = false;
  /// Over which sums of local contributions are global ones; MPI_COMM_SELF if replicated.
  MPI_Comm communicator = MPI_COMM_SELF;

  /// min_d h_d: the length by which the level's operator is made dimensionless.
  double reference_length() const;
  /// c_d = (reference_length / h_d)^2, the factor of direction d in the dimensionless operator.
  std::array<double, 3> direction_factors() const;
  /// Number of degrees of freedom on all ranks.
  std::int64_t global_dofs() const;
};

/// All levels, coarsest first; level l has coarse_cells * 2^l cells per direction.
/// Cells are divided in y and z only, in blocks whose borders are even on every distributed level
/// but the coarsest one; levels too small for that are replicated.
struct Grid
{
  Problem problem;
  MPI_Comm communicator = MPI_COMM_SELF;
  int rank = 0;
  int n_ranks = 1;
  std::array<int, 3> ranks_per_direction{1, 1, 1};
  std::vector<LevelGrid> levels;

  const LevelGrid &finest() const { return levels.back(); }
};

/// Distributes the box of `problem` over `communicator`. A mesh with fewer cells in y and z than ranks
/// is replicated on every rank, on all levels.
Grid make_grid(const Problem &problem, MPI_Comm communicator);
} // namespace tensormg
