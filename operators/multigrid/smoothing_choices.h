// What the options of multigrid mean for its smoothers.
#pragma once

#include <vector>

#include "solvers/chebyshev.h"
#include "tensormg/options.h"

namespace tensormg
{
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

/// The steps of a Chebyshev or Jacobi smoother.
std::vector<ThreeTermStep> smoothing_steps(const MultigridOptions &options, double lambda_max);
} // namespace tensormg
