// What the options of multigrid mean on the levels of a grid.
#pragma once

#include <cstddef>
#include <vector>

#include "operators/grid.h"
#include "solvers/chebyshev.h"
#include "solvers/options.h"

namespace tensormg
{
/// Smallest non-zero eigenvalue of the dimensionless operator on the finest level (of the continuous
/// problem, which the discrete one approximates from above).
double smallest_eigenvalue(const Grid &grid);

/// The level whose lambda_max serves level l >= 1: the spectrum's upper end hardly changes from 8 cells per
/// direction on (docs/mathematics.md), so finer levels take the estimate of the first such level.
std::size_t representative_level(const Grid &grid, std::size_t l);

/// Whether the smoother works with lambda_max: the multiplicative patch smoother and a damping factor given
/// by the user need no spectrum.
bool needs_lambda_max(const MultigridOptions &options);

/// Whether the result of a cycle is a sum of two vectors (solvers/multigrid.h): where smoothing steps round what they
/// multiply to 11 bits.
inline bool split_multigrid(const MultigridOptions &options) { return options.is_below_single(); }

/// The steps of a Chebyshev or Jacobi smoother.
std::vector<ThreeTermStep> smoothing_steps(const MultigridOptions &options, double lambda_max);
} // namespace tensormg
