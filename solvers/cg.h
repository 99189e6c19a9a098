// Preconditioned flexible conjugate gradients, for preconditioners that are symmetric positive definite up to
// rounding.
//
// Sources: Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 9.1; Y. Notay, Flexible
// conjugate gradients, SIAM J. Sci. Comput. 22 (2000). The new direction is made conjugate to the last one
// explicitly,
//   beta = z'(r - r_old) / (z_old'r_old) = -alpha_old z'q_old / (z_old'r_old),
// since z'r_old is not zero if the preconditioner rounds: a cycle in half precision leaves an error of 2^-12 of
// its largest entry, which for a smooth z exceeds the residual.
// Memory movement of one iteration in vectors of the outer precision: preconditioner, z'r and z'q 3,
// p = z + beta p 3, operator 2, p'q 2, fused update of x and r with r'r 6.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "solvers/concepts.h"
#include "solvers/report.h"

namespace tensormg
{
template <OuterSpace Space>
requires BasisSpace<Space, typename Space::VectorType>
class ConjugateGradients
{
public:
  using VectorType = typename Space::VectorType;

  /// Takes all its memory at once: four vectors.
  ConjugateGradients(const Space &space, double tolerance, int max_iterations)
    : space_(space)
    , tolerance_(tolerance)
    , max_iterations_(max_iterations)
    , z_(space.make_vector())
    , p_(space.make_vector())
  {
    for (int i = 0; i < 2; ++i)
      r_and_q_.push_back(space.make_vector());
  }

  /// Calls once what a step calls, for zero vectors, so that whatever a first call does besides its work is
  /// done before solve().
  template <OuterOperator<VectorType> Operator, Preconditioner<VectorType> Precond>
  void prepare(Operator &op, Precond &preconditioner)
  {
    VectorType &r = r_and_q_[0], &q = r_and_q_[1];
    op.residual(r, z_, q);
    preconditioner.apply(z_, r, 1.);
    space_.multi_dot(r_and_q_, 2, z_);
    space_.axpby(0., z_, 0., p_);
    op.vmult(q, p_);
    space_.dot(p_, q);
    space_.cg_update(0., p_, q, z_, r);
  }

  /// from_zero: x is zero, which saves the first residual.
  ///
  /// Improves x. Converged means that the true residual, evaluated anew, meets the tolerance; where it
  /// disagrees with the recursion, the method starts again from it.
  template <OuterOperator<VectorType> Operator, Preconditioner<VectorType> Precond>
  SolveReport solve(Operator &op, Precond &preconditioner, VectorType &x, const VectorType &b,
      const IterationCallback &callback = {}, bool from_zero = false)
  {
    SolveReport report;
    const double norm_b = space_.norm(b);
    report.rhs_norm = norm_b;
    if (norm_b == 0.)
    {
      space_.axpby(0., b, 0., x);
      report.reason = StopReason::converged;
      report.residuals = {0.};
      return report;
    }
    VectorType &r = r_and_q_[0], &z = z_, &p = p_, &q = r_and_q_[1];
    double last_true = INFINITY;
    while (true)
    {
      double residual = norm_b;
      if (from_zero && report.iterations == 0)
        space_.axpby(1., b, 0., r);
      else
      {
        op.residual(r, x, b);
        residual = space_.norm(r);
      }
      report.true_relative_residual = residual / norm_b;
      if (report.residuals.empty())
      {
        report.residuals.push_back(residual);
        if (callback)
          callback(0, residual / norm_b);
      }
      if (!std::isfinite(residual))
        return stop(report, StopReason::not_finite, "the residual is NaN or Inf");
      if (residual <= tolerance_ * norm_b)
        return stop(report, StopReason::converged, "");
      if (residual > 0.9 * last_true)
        return stop(report, StopReason::stagnated,
            "the true residual stays at " + number_text(residual / norm_b));
      last_true = residual;

      const auto stop_inside = [&](StopReason reason, const std::string &detail) {
        op.residual(r, x, b);
        report.true_relative_residual = space_.norm(r) / norm_b;
        return stop(report, reason, detail);
      };
      double rho_old = 0., alpha = 0.;
      // The recursion goes on falling where the true residual cannot: look at that after sixteen digits.
      const double target = std::max(tolerance_ * norm_b, 1e-16 * residual);
      while (residual > target)
      {
        if (report.iterations >= max_iterations_)
          return stop_inside(StopReason::iteration_limit,
              "tolerance not reached after " + std::to_string(report.iterations) + " iterations");
        preconditioner.apply(z, r, residual);
        // z'r, and z'q with the q of the last iteration.
        const std::vector<double> dots = space_.multi_dot(r_and_q_, rho_old == 0. ? 1 : 2, z);
        const double rho = dots[0];
        if (!std::isfinite(rho))
          return stop_inside(StopReason::not_finite, preconditioner.diagnose());
        if (rho <= 0.)
          return stop_inside(StopReason::indefinite_preconditioner,
              "z'r = " + number_text(rho) + " in iteration " +
                  std::to_string(report.iterations + 1) + "; fgmres needs no symmetry");
        space_.axpby(1., z, rho_old == 0. ? 0. : -alpha * dots[1] / rho_old, p);
        rho_old = rho;
        op.vmult(q, p);
        const double curvature = space_.dot(p, q);
        if (!std::isfinite(curvature))
          return stop_inside(StopReason::not_finite, "p'Ap is NaN or Inf");
        if (curvature <= 0.)
          return stop_inside(StopReason::indefinite_preconditioner,
              "p'Ap = " + number_text(curvature) + ": the operator is not positive definite");
        alpha = rho / curvature;
        residual = std::sqrt(space_.cg_update(alpha, p, q, x, r));
        ++report.iterations;
        report.residuals.push_back(residual);
        if (callback)
          callback(report.iterations, residual / norm_b);
        if (!std::isfinite(residual))
          return stop_inside(StopReason::not_finite, "the residual is NaN or Inf");
      }
    }
  }

private:
  static SolveReport stop(SolveReport report, StopReason reason, std::string detail)
  {
    report.reason = reason;
    report.detail = std::move(detail);
    return report;
  }

  const Space &space_;
  double tolerance_;
  int max_iterations_;
  std::vector<VectorType> r_and_q_; ///< side by side for the dot products with both
  VectorType z_, p_;
};
} // namespace tensormg
