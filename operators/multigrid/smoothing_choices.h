// What the options of multigrid mean on the levels of a grid.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "operators/constant/line_inverse.h"
#include "operators/mesh/grid.h"
#include "solvers/chebyshev.h"
#include "solvers/options.h"

namespace tensormg
{
/// Smallest non-zero eigenvalue of the dimensionless operator on the finest level (of the continuous
/// problem, which the discrete one approximates from above).
double smallest_eigenvalue(const Grid &grid);

/// Upper bound of the eigenvalues of the operator on the finest level.
double largest_eigenvalue_bound(const Grid &grid, const CellBasis &basis);

/// Upper bound of the condition number of the operator on the finest level (constants left out where they are in the kernel).
double condition_number(const Grid &grid, const CellBasis &basis);

/// Whether cells are stretched (by 1.5 or more) and the condition number is beyond 5e7, as it is where a short direction has no Dirichlet
/// side: then 24 bits hold too little of a correction, since rounding leaves roughness in the short direction, whose residual is larger
/// than the one to be reduced by the condition number. From 1e8 on single takes more iterations, or fails.
bool needs_double(const Grid &grid, const CellBasis &basis);

/// The options with a precision that is not automatic.
MultigridOptions with_chosen_precision(
    MultigridOptions options, const Grid &grid, const CellBasis &basis);

/// The level whose lambda_max serves level l >= 1: the spectrum's upper end hardly changes from 8 cells per
/// direction on (docs/mathematics.md), so finer levels take the estimate of the first such level. A level with exact directions has one of
/// its own: the longer its other cells, the nearer is D^-1 B to the identity.
std::size_t representative_level(const Grid &grid, std::size_t l);

/// Whether the smoother works with lambda_max: the multiplicative patch smoother and a damping factor given
/// by the user need no spectrum.
bool needs_lambda_max(const MultigridOptions &options);

/// Whether the result of a cycle is a sum of two vectors (solvers/multigrid.h): where smoothing steps round what they
/// multiply to 11 bits.
inline bool split_multigrid(const MultigridOptions &options) { return options.is_below_single(); }

/// Whether D of the smoother's steps is exact in exact directions. Patches hold all cells of a direction that is down to one or two by
/// themselves.
inline bool has_exact_steps(const MultigridOptions &options)
{
  return options.smoother != Smoother::patch;
}

/// The smoother of a level: where an exact direction has more than two cells, which is more than a patch holds, Chebyshev steps of degree 4
/// take the place of patches.
MultigridOptions options_of_level(MultigridOptions options, const LevelGrid &level);

/// The block of this rank between two directions of the transfer from level l > 0 (kernels/transfer/transfer.h); often empty.
Block between_directions(const Grid &grid, std::size_t l);

/// Bytes beyond the vectors of the cycle that level l > 0 takes where it is stretched: steps with exact directions, and the vector between
/// two directions of the transfer to the next coarser one.
std::int64_t stretched_level_memory(
    const Grid &grid, std::size_t l, const MultigridOptions &options);

/// The steps of a Chebyshev or Jacobi smoother.
std::vector<ThreeTermStep> smoothing_steps(const MultigridOptions &options, double lambda_max);
} // namespace tensormg
