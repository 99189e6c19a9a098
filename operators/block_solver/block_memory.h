// The memory that a solve on a mesh of blocks takes, before anything of it is made.
#pragma once

#include <cstdint>

#include "operators/solver/memory_plan.h"
#include "tensormg/options.h"

namespace tensormg
{
/// What is known of a mesh then.
struct BlockSizes
{
  int dim = 3;
  int degree = 3;
  std::int64_t n_blocks = 1;
  int refinements = 0;
  bool has_reaction = false;
  int geometry_degree = 1; ///< of the polynomials of blocks
  int n_ranks = 1;
  /// The finest cells, and all coarser ones, have one metric each (operators/pointwise/affine_cells.h).
  bool has_affine_cells = false, has_affine_coarse_cells = false;
};
/// Of the rank with most blocks. With Coarsening::vertices for its levels, otherwise for those of cells. Beside a device: what of them all is on the host, too.
MemoryPlan make_memory_plan(
    const BlockSizes &sizes, const SolverOptions &options, MemoryPlace place = MemoryPlace::host);
} // namespace tensormg
