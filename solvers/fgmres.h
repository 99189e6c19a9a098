// Flexible GMRES with restart.
//
// Source: Y. Saad, A flexible inner-outer preconditioned GMRES algorithm, SIAM J. Sci. Comput. 14 (1993),
// algorithm 2.2. Orthogonalisation by classical Gram-Schmidt with a second pass where cancellation asks
// for it (Daniel, Gragg, Kaufman, Stewart, Math. Comp. 30 (1976)).
//
// Memory movement of step j, in vectors of the outer precision: preconditioner, operator 2,
// multi-dot j + 2, multi-update j + 3. The basis is stored unnormalised with its norms, which saves the
// pass that would scale it.
#pragma once

#include <algorithm>
#include <cmath>

#include "solvers/concepts.h"
#include "solvers/report.h"

namespace tensormg
{
template <OuterSpace Space>
class Fgmres
{
public:
  using VectorType = typename Space::VectorType;

  /// tolerance: on ||b - A x|| / ||b||; restart >= 1: length of the basis. Takes the memory of the first
  /// steps at once, that of later ones when they come.
  Fgmres(const Space &space, double tolerance, int max_iterations, int restart)
    : space_(space)
    , tolerance_(tolerance)
    , max_iterations_(max_iterations)
    , restart_(restart)
  {
    constexpr int usual_iterations = 8;
    const int steps = std::min({usual_iterations, restart_, std::max(max_iterations_, 1)});
    grow(v_, steps + 1);
    grow(z_, steps);
  }

  /// Calls once what a step calls, for zero vectors, so that whatever a first call does besides its work is
  /// done before solve(). steps: for how many lengths of the basis.
  template <OuterOperator<VectorType> Operator, Preconditioner<VectorType> Precond>
  void prepare(Operator &op, Precond &preconditioner, int steps)
  {
    preconditioner.apply(z_[0], v_[0], 1.);
    op.vmult(v_[1], z_[0]);
    const int most = std::min(steps, static_cast<int>(z_.size()));
    for (int count = 1; count <= most; ++count)
    {
      space_.multi_dot(v_, count, v_[0]);
      space_.multi_update(std::vector<double>(static_cast<std::size_t>(count), 0.), z_, v_[0]);
    }
    space_.axpby(0., z_[0], 0., v_[0]);
    op.residual(v_[1], z_[0], v_[0]);
  }

  /// Improves x. Converged means that the true residual, evaluated anew, meets the tolerance. from_zero: x is
  /// zero, which saves the first residual.
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
    double residual = norm_b;
    if (from_zero)
      space_.axpby(1., b, 0., v_[0]);
    else
    {
      op.residual(v_[0], x, b);
      residual = space_.norm(v_[0]);
    }
    report.residuals.push_back(residual);
    if (callback)
      callback(0, residual / norm_b);

    while (true)
    {
      report.true_relative_residual = residual / norm_b;
      if (!std::isfinite(residual))
        return stop(report, StopReason::not_finite, "the residual is NaN or Inf");
      if (residual <= tolerance_ * norm_b)
        return stop(report, StopReason::converged, "");
      if (report.iterations >= max_iterations_)
        return stop(report, StopReason::iteration_limit,
            "tolerance not reached after " + std::to_string(report.iterations) + " iterations");
      const bool finite = cycle(op, preconditioner, residual, norm_b, report, callback);
      if (!finite)
        return stop(report, StopReason::not_finite, preconditioner.diagnose());
      space_.multi_update(scaled_solution(), z_, x);
      op.residual(v_[0], x, b);
      const double updated = space_.norm(v_[0]);
      // A cycle that the iteration limit cut short says nothing about stagnation.
      const bool cut_short = report.iterations >= max_iterations_ && steps() < restart_ &&
          report.residuals.back() > tolerance_ * norm_b;
      if (updated > 0.9 * residual && updated > tolerance_ * norm_b && !cut_short)
      {
        report.true_relative_residual = updated / norm_b;
        return stop(report, std::isfinite(updated) ? StopReason::stagnated : StopReason::not_finite,
            "the true residual fell only from " + number_text(residual / norm_b) + " to " +
                number_text(updated / norm_b) + " over one restart cycle");
      }
      residual = updated;
    }
  }

private:
  static SolveReport stop(SolveReport report, StopReason reason, std::string detail)
  {
    report.reason = reason;
    report.detail = std::move(detail);
    return report;
  }

  void grow(std::vector<VectorType> &vectors, int size)
  {
    while (static_cast<int>(vectors.size()) < size)
      vectors.push_back(space_.make_vector());
  }

  /// One cycle of at most restart_ steps from v_[0] = residual. False if something was not finite.
  template <typename Operator, typename Precond>
  bool cycle(Operator &op, Precond &preconditioner, double norm_r, double norm_b,
      SolveReport &report, const IterationCallback &callback)
  {
    norms_ = {norm_r};
    rhs_ = {norm_r};
    columns_.clear();
    cosines_.clear();
    sines_.clear();
    double estimate = norm_r;
    // More digits than a number has cannot come out of one cycle: then the true residual decides.
    const double target = std::max(tolerance_ * norm_b, 1e-16 * norm_r);
    while (steps() < restart_ && report.iterations < max_iterations_ && estimate > target)
    {
      const int j = steps();
      grow(v_, j + 2);
      grow(z_, j + 1);
      preconditioner.apply(z_[j], v_[j], norms_[j]);
      op.vmult(v_[j + 1], z_[j]);
      if (!orthogonalise(j))
        return false;
      estimate = rotate(j);
      ++report.iterations;
      report.residuals.push_back(estimate);
      if (callback)
        callback(report.iterations, estimate / norm_b);
      if (norms_.back() == 0.) // the solution lies in the space
        break;
    }
    return true;
  }

  int steps() const { return static_cast<int>(columns_.size()); }

  /// v_[j+1] = A z_j made orthogonal to v_[0..j]. z_j belongs to v_[j] with its norm, so all columns
  /// refer to the normalised basis after division by that norm.
  bool orthogonalise(int j)
  {
    VectorType &w = v_[j + 1];
    std::vector<double> column(j + 2, 0.);
    double first = 0., before = 0., after = 0.;
    for (int pass = 0; pass < 2; ++pass)
    {
      const std::vector<double> dots = space_.multi_dot(v_, j + 1, w);
      before = dots[j + 1];
      if (pass == 0)
        first = before;
      std::vector<double> update(j + 1);
      for (int i = 0; i <= j; ++i)
      {
        column[i] += dots[i] / norms_[i] / norms_[j];
        update[i] = -dots[i] / (norms_[i] * norms_[i]);
      }
      after = space_.multi_update(update, v_, w);
      if (!std::isfinite(before) || !std::isfinite(after))
        return false;
      // Cancellation below this factor would leave less than 13 digits of orthogonality.
      constexpr double threshold = 1e-3;
      if (after > threshold * threshold * before)
        break;
    }
    // What is left of a vector in the span of the others is rounding. A basis of that would lose sixteen
    // digits per step until its squares underflow.
    if (after < 1e-30 * first)
      after = 0.;
    norms_.push_back(std::sqrt(after));
    column[j + 1] = norms_.back() / norms_[j];
    columns_.push_back(std::move(column));
    return true;
  }

  /// Givens rotations of column j; returns the residual norm of the least-squares problem.
  double rotate(int j)
  {
    std::vector<double> &h = columns_[j];
    for (int i = 0; i < j; ++i)
    {
      const double upper = cosines_[i] * h[i] + sines_[i] * h[i + 1];
      h[i + 1] = -sines_[i] * h[i] + cosines_[i] * h[i + 1];
      h[i] = upper;
    }
    const double length = std::hypot(h[j], h[j + 1]);
    cosines_.push_back(length == 0. ? 1. : h[j] / length);
    sines_.push_back(length == 0. ? 0. : h[j + 1] / length);
    h[j] = length;
    h[j + 1] = 0.;
    rhs_.push_back(-sines_[j] * rhs_[j]);
    rhs_[j] *= cosines_[j];
    return std::abs(rhs_[j + 1]);
  }

  /// Coefficients of the stored (unnormalised) z vectors in the update of x.
  std::vector<double> scaled_solution() const
  {
    const int k = steps();
    std::vector<double> y(rhs_.begin(), rhs_.begin() + k);
    for (int i = k - 1; i >= 0; --i)
    {
      for (int j = i + 1; j < k; ++j)
        y[i] -= columns_[j][i] * y[j];
      y[i] = columns_[i][i] == 0. ? 0. : y[i] / columns_[i][i];
    }
    for (int i = 0; i < k; ++i)
      y[i] /= norms_[i];
    return y;
  }

  const Space &space_;
  double tolerance_;
  int max_iterations_;
  int restart_;
  std::vector<VectorType> v_, z_;
  std::vector<double> norms_, rhs_, cosines_, sines_;
  std::vector<std::vector<double>> columns_;
};
} // namespace tensormg
