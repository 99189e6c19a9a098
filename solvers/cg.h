// Preconditioned flexible conjugate gradients, for preconditioners that are symmetric positive definite up to
// rounding; vectors in the outer precision or in FP32.
//
// Sources: Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 9.1; Y. Notay, Flexible
// conjugate gradients, SIAM J. Sci. Comput. 22 (2000). The new direction is made conjugate to the last one
// explicitly,
//   beta = -z'q_old / (p_old'q_old),
// since z'r_old is not zero if the preconditioner rounds: a cycle in half precision leaves an error of 2^-12 of
// its largest entry, which for a smooth z exceeds the residual.
//
// Vectors in FP32. r, z, p and q = A p are rounded when they are stored; arithmetic is FP64, and so is x. Rounding z is
// harmless, as beta takes any z. The recursion r - alpha q loses at most a few 2^-24 |r| per step against the true
// residual; so after a reduction by at most 1e-6 it starts again from that, evaluated in FP64 and brought near one by
// a power of two (solvers/short_numbers.h). The last direction stays: beta does not depend on its scale.
//
// One wait per step. The step and beta are quotients of numbers that the space need not know before it uses them; the
// solver reads them together with r'r. A step that is none (z'r or p'q is not positive) has changed nothing then.
//
// Memory movement of one iteration in vectors of r: preconditioner, z'r and z'q 3, p = z + beta p 3, operator 2, p'q 2,
// fused update of x and r with r'r 4, and 2 in the precision of x.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "solvers/concepts.h"
#include "solvers/short_numbers.h"
#include "tensormg/report.h"

namespace tensormg
{
template <OuterSpace Space, typename DirectionVector = typename Space::VectorType>
requires BasisSpace<Space, DirectionVector> && DirectionSpace<Space, DirectionVector>
class ConjugateGradients
{
public:
  using VectorType = typename Space::VectorType;

  /// Takes all its memory at once: four vectors, and with vectors in FP32 one in the outer precision.
  ConjugateGradients(const Space &space, double tolerance, int max_iterations)
    : space_(space)
    , tolerance_(tolerance)
    , max_iterations_(max_iterations)
    , z_(short_numbers::make_vector<DirectionVector>(space))
    , p_(short_numbers::make_vector<DirectionVector>(space))
  {
    for (int i = 0; i < 2; ++i)
      r_and_q_.push_back(short_numbers::make_vector<DirectionVector>(space));
    if constexpr (has_short_numbers)
      residual_ = short_numbers::make_vector<VectorType>(space);
  }

  /// Calls once what a step calls, so that whatever a first call does besides its work is done before solve(). What
  /// the calls compute does not matter, and where the space has vectors that are not set they must not compute
  /// anything (KernelLoading). x and b are those of the solve; x stays as it is.
  template <BasisOperator<VectorType, DirectionVector> Operator,
      Preconditioner<DirectionVector> Precond>
  void prepare(Operator &op, Precond &preconditioner, VectorType &x, const VectorType &b)
  {
    DirectionVector &r = r_and_q_[0], &q = r_and_q_[1];
    evaluate_residual(op, x, b, 1.);
    preconditioner.apply(z_, r, 1.);
    space_.multi_dot_later(r_and_q_, 1, z_);
    const auto dots = space_.multi_dot_later(r_and_q_, 2, z_);
    space_.axpby(1., z_, 0., p_);
    op.vmult(q, p_);
    const auto curvature = space_.dot_later(p_, q);
    space_.axpby(1., z_, Space::quotient(-1., dots[1], curvature), p_);
    space_.cg_update(Space::quotient(0., dots[0], curvature), 1., p_, q, x, r);
  }

  /// Improves x. Converged means that the true residual, evaluated anew, meets the tolerance; where it
  /// disagrees with the recursion, the method starts again from it.
  template <BasisOperator<VectorType, DirectionVector> Operator,
      Preconditioner<DirectionVector> Precond>
  SolveReport solve(Operator &op, Precond &preconditioner, VectorType &x, const VectorType &b,
      const IterationCallback &callback = {}, Start start = Start::given,
      const Interrupt &interrupt = {})
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
    double last_true = INFINITY;
    has_direction_ = false;
    while (true)
    {
      const bool is_b = start == Start::zero && report.iterations == 0;
      const double expected = report.residuals.empty() ? norm_b : report.residuals.back();
      double residual = is_b ? take_residual(b, norm_b) : evaluate_residual(op, x, b, expected);
      if (start == Start::given_if_better && report.residuals.empty() && !(residual <= norm_b))
      {
        report.dropped_start = true;
        space_.axpby(0., b, 0., x);
        residual = take_residual(b, norm_b);
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
            "the true residual stays at " + number_text(residual / norm_b) + "; " +
                preconditioner.diagnose());
      last_true = residual;
      // The recursion goes on falling where the true residual cannot: look at that after sixteen digits.
      const double target = std::max(tolerance_ * norm_b, 1e-16 * residual);
      const Stop ended = iterate(op, preconditioner, x, residual,
          has_short_numbers ? short_numbers::end_of_cycle(residual, target) : target, norm_b,
          report, callback, interrupt);
      if (ended.reason != StopReason::converged)
      {
        report.true_relative_residual =
            evaluate_residual(op, x, b, report.residuals.back()) / norm_b;
        return stop(report, ended.reason, ended.detail);
      }
    }
  }

private:
  static constexpr bool has_short_numbers = !std::is_same_v<DirectionVector, VectorType>;

  struct Stop
  {
    StopReason reason;
    std::string detail;
  };

  static SolveReport stop(SolveReport report, StopReason reason, std::string detail)
  {
    report.reason = reason;
    report.detail = std::move(detail);
    return report;
  }

  /// r = v, in its numbers and units; returns the norm, which is about what is expected.
  double take_residual(const VectorType &v, double expected)
  {
    if constexpr (has_short_numbers)
    {
      const short_numbers::Scaled scaled =
          short_numbers::round_near_one(space_, v, expected, r_and_q_[0]);
      unit_ = 1. / scaled.factor;
      return scaled.norm();
    }
    else
    {
      space_.axpby(1., v, 0., r_and_q_[0]);
      return expected;
    }
  }

  /// r = b - A x; returns its norm.
  template <typename Operator>
  double evaluate_residual(Operator &op, const VectorType &x, const VectorType &b, double expected)
  {
    if constexpr (has_short_numbers)
    {
      op.residual(residual_, x, b);
      return take_residual(residual_, expected);
    }
    else
    {
      op.residual(r_and_q_[0], x, b);
      // Where recursion and truth disagree in FP64, the last direction is no good either.
      has_direction_ = false;
      return space_.norm(r_and_q_[0]);
    }
  }

  /// Steps until the recursion's residual is at most `target`; says converged then, otherwise why not.
  template <typename Operator, typename Precond>
  Stop iterate(Operator &op, Precond &preconditioner, VectorType &x, double residual, double target,
      double norm_b, SolveReport &report, const IterationCallback &callback,
      const Interrupt &interrupt)
  {
    DirectionVector &r = r_and_q_[0], &z = z_, &p = p_, &q = r_and_q_[1];
    while (residual > target)
    {
      if (report.iterations >= max_iterations_ || (interrupt && interrupt()))
        return {StopReason::iteration_limit,
            "tolerance not reached after " + std::to_string(report.iterations) + " iterations"};
      preconditioner.apply(z, r, residual / unit_);
      // z'r, and z'q with the q of the last iteration.
      const auto dots = space_.multi_dot_later(r_and_q_, has_direction_ ? 2 : 1, z);
      if (has_direction_)
        space_.axpby(1., z, Space::quotient(-1., dots[1], curvature_), p);
      else
        space_.axpby(1., z, 0., p);
      op.vmult(q, p);
      curvature_ = space_.dot_later(p, q);
      const double sum =
          space_.cg_update(Space::quotient(1., dots[0], curvature_), unit_, p, q, x, r);
      const double rho = Space::known(dots[0]), curvature = Space::known(curvature_);
      if (!std::isfinite(rho))
        return {StopReason::not_finite, preconditioner.diagnose()};
      if (rho <= 0.)
        return {StopReason::indefinite_preconditioner,
            "z'r = " + number_text(rho) + " in iteration " + std::to_string(report.iterations + 1) +
                "; fgmres needs no symmetry"};
      if (!std::isfinite(curvature))
        return {StopReason::not_finite, "p'Ap is NaN or Inf"};
      if (curvature <= 0.)
        return {StopReason::indefinite_preconditioner,
            "p'Ap = " + number_text(curvature) + ": the operator is not positive definite"};
      has_direction_ = true;
      residual = unit_ * std::sqrt(sum);
      ++report.iterations;
      report.residuals.push_back(residual);
      if (callback)
        callback(report.iterations, residual / norm_b);
      if (!std::isfinite(residual))
        return {StopReason::not_finite, "the residual is NaN or Inf"};
    }
    return {StopReason::converged, ""};
  }

  const Space &space_;
  double tolerance_;
  int max_iterations_;
  VectorType residual_;                  ///< with short numbers
  std::vector<DirectionVector> r_and_q_; ///< side by side for the dot products with both
  DirectionVector z_, p_;
  double unit_ = 1.; ///< what one in r stands for
  bool has_direction_ = false;
  /// p'q of the last step, where there is a direction.
  decltype(std::declval<const Space &>().dot_later(std::declval<const DirectionVector &>(),
      std::declval<const DirectionVector &>())) curvature_{};
};
} // namespace tensormg
