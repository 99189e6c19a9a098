// Iterative refinement of a direct solution.
#pragma once

#include <algorithm>
#include <cmath>

#include "apps/console.h"
#include "apps/solve.h"
#include "solvers/concepts.h"
#include "solvers/report.h"

namespace tensormg
{
/// x = B^-1 b, then corrections from the residual as long as they help.
template <typename Space, typename Operator, typename Solver>
SolveReport refine_directly(const Space &space, Operator &op, Solver &solver,
    typename Space::VectorType &x, const typename Space::VectorType &b, double tolerance,
    const IterationCallback &callback)
{
  constexpr int max_solves = 4;
  SolveReport report;
  report.reason = StopReason::converged;
  const double norm_b = space.norm(b);
  report.residuals = {norm_b};
  if (norm_b == 0.)
    return report;
  callback(0, 1.);
  auto r = space.make_vector(), correction = space.make_vector();
  space.axpby(1., b, 0., r);
  double residual = norm_b;
  while (residual > tolerance * norm_b && report.iterations < max_solves)
  {
    solver.solve(correction, r);
    space.axpby(1., correction, 1., x);
    op.residual(r, x, b);
    const double before = residual;
    residual = space.norm(r);
    ++report.iterations;
    report.residuals.push_back(residual);
    callback(report.iterations, residual / norm_b);
    if (!(residual < 0.5 * before))
      break;
  }
  report.true_relative_residual = residual / norm_b;
  if (!std::isfinite(residual))
  {
    report.reason = StopReason::not_finite;
    report.detail = "the residual of the direct solve is NaN or Inf";
  }
  else if (report.true_relative_residual > std::max(tolerance, direct_tolerance))
  {
    report.reason = StopReason::stagnated;
    report.detail = "rounding limits the direct solve to " +
        format_residual(report.true_relative_residual) + "; fgmres may reach a smaller residual";
  }
  return report;
}
} // namespace tensormg
