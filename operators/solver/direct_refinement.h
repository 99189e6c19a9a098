// Iterative refinement of a direct solution.
#pragma once

#include <cmath>

#include "solvers/concepts.h"
#include "tensormg/report.h"

namespace tensormg
{
/// x = B^-1 b, then corrections from the residual until the tolerance is met or they help no more: then rounding of the
/// residual, in double precision, is what is left.
template <typename Space, typename Operator, typename Solver>
SolveReport refine_directly(const Space &space, Operator &op, Solver &solver,
    typename Space::VectorType &x, const typename Space::VectorType &b, double tolerance,
    const IterationCallback &callback)
{
  constexpr int max_solves = 10;
  SolveReport report;
  report.reason = StopReason::converged;
  const double norm_b = space.norm(b);
  report.rhs_norm = norm_b;
  report.residuals = {norm_b};
  if (norm_b == 0.)
  {
    space.axpby(0., b, 0., x);
    return report;
  }
  if (callback)
    callback(0, 1.);
  auto r = space.make_vector(), correction = space.make_vector();
  double residual = norm_b;
  while (!(residual / norm_b <= tolerance) && report.iterations < max_solves)
  {
    if (report.iterations == 0)
      solver.solve(x, b);
    else
    {
      solver.solve(correction, r);
      space.axpby(1., correction, 1., x);
    }
    op.residual(r, x, b);
    const double before = residual;
    residual = space.norm(r);
    ++report.iterations;
    report.residuals.push_back(residual);
    if (callback)
      callback(report.iterations, residual / norm_b);
    if (residual < 0.5 * before)
      continue;
    if (residual > before && report.iterations > 1) // a correction that is all rounding
    {
      space.axpby(-1., correction, 1., x);
      op.residual(r, x, b);
      residual = space.norm(r);
    }
    break;
  }
  report.true_relative_residual = residual / norm_b;
  if (!std::isfinite(residual))
  {
    report.reason = StopReason::not_finite;
    report.detail = "the residual of the direct solve is NaN or Inf";
  }
  else if (!(report.true_relative_residual <= tolerance))
  {
    report.reason = StopReason::stagnated;
    report.detail = "tolerance " + number_text(tolerance) +
        " not reached: rounding limits the direct solve to " +
        number_text(report.true_relative_residual) +
        "; solver.tolerance above that is attainable, and a little less may be by fgmres";
  }
  return report;
}
} // namespace tensormg
