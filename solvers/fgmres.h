// Flexible GMRES with restart, with a basis in the outer precision or in FP32.
//
// Source: Y. Saad, A flexible inner-outer preconditioned GMRES algorithm, SIAM J. Sci. Comput. 14 (1993),
// algorithm 2.2. Orthogonalisation by classical Gram-Schmidt with a second pass where cancellation asks
// for it (Daniel, Gragg, Kaufman, Stewart, Math. Comp. 30 (1976)).
//
// A basis in FP32. The vectors v_j, z_j and w_j = A z_j are rounded when they are stored; all arithmetic is in
// FP64. Rounding z_j is harmless, as the method takes any z_j. Rounding w_j, and v_j after it, leaves
// A Z = V H + F with |f_j| <= 2^-24 (|w_j| + |v_{j+1}|), so that the residual differs from the estimate by F y: 3e-8
// of the residual at the start of the cycle where that was measured (docs/solver.md). So a cycle ends where
// the estimate has fallen by 1e-6 or, if the tolerance is further away, by a root of the reduction that is to come;
// then the FP64 residual of the FP64 solution starts the next one (iterative refinement). Short cycles also move
// fewer bytes.
//
// One wait per step. The dot products of w_j with the basis and itself give its norm after orthogonalisation by Pythagoras'
// theorem, with the error of the dot products over the part that is left. That decides whether the cycle goes on; the
// norm itself is read with the dot products of the next step, and takes the place of the estimate before anything is
// computed with it. Only in the last step of a cycle, after which the true residual decides, the estimate stays. Where
// little is left the step waits for the norm, and repeats the pass if it must.
//
// Memory movement of step j, in vectors of the basis: preconditioner, operator 2, multi-dot j + 2, multi-update
// j + 3. Each w_j is stored times a power of two that brings its norm near one, and its norm is kept: that saves
// the pass that would normalise it.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "solvers/concepts.h"
#include "solvers/short_numbers.h"
#include "solvers/stagnation.h"
#include "tensormg/report.h"

namespace tensormg
{
template <OuterSpace Space, typename BasisVector = typename Space::VectorType>
requires BasisSpace<Space, BasisVector>
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
    constexpr int usual_iterations = has_short_numbers ? 5 : 8;
    const int steps = std::min({usual_iterations, restart_, std::max(max_iterations_, 1)});
    if constexpr (has_short_numbers)
      r_ = short_numbers::make_vector<VectorType>(space_);
    grow(v_, steps + 1);
    grow(z_, steps);
  }

  /// Calls once what a step calls, so that whatever a first call does besides its work is done before solve(). What
  /// the calls compute does not matter, and where the space has vectors that are not set they must not compute
  /// anything (KernelLoading). x and b are those of the solve; x stays as it is. steps: for how many lengths of the
  /// basis.
  template <BasisOperator<VectorType, BasisVector> Operator, Preconditioner<BasisVector> Precond>
  void prepare(Operator &op, Precond &preconditioner, VectorType &x, const VectorType &b, int steps)
  {
    preconditioner.apply(z_[0], v_[0], 1.);
    op.vmult(v_[1], z_[0]);
    const int most = std::min(steps, static_cast<int>(z_.size()));
    for (int count = 1; count <= most; ++count)
    {
      const std::vector<double> zeros(static_cast<std::size_t>(count), 0.);
      space_.multi_dot(v_, count, v_[0]);
      space_.multi_update_later(zeros, z_, v_[0], 1.);
      space_.add_combination(zeros, z_, x);
    }
    true_residual(op, x, b, 1.);
    begin_basis_with(b, 1.);
  }

  /// Improves x. Converged means that the true residual, evaluated anew, meets the tolerance.
  template <BasisOperator<VectorType, BasisVector> Operator, Preconditioner<BasisVector> Precond>
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
    double residual = norm_b;
    if (start != Start::zero)
      residual = true_residual(op, x, b, norm_b);
    report.dropped_start = start == Start::given_if_better && !(residual <= norm_b);
    if (report.dropped_start)
      space_.axpby(0., b, 0., x);
    if (start == Start::zero || report.dropped_start)
    {
      begin_basis_with(b, norm_b);
      residual = norm_b;
    }
    report.residuals.push_back(residual);
    if (callback)
      callback(0, residual / norm_b);

    Stagnation stagnation{residual, 0};
    while (true)
    {
      report.true_relative_residual = residual / norm_b;
      if (!std::isfinite(residual))
        return stop(report, StopReason::not_finite, "the residual is NaN or Inf");
      if (residual <= tolerance_ * norm_b)
        return stop(report, StopReason::converged, "");
      if (report.iterations >= max_iterations_ || (interrupt && interrupt()))
        return stop(report, StopReason::iteration_limit,
            "tolerance not reached after " + std::to_string(report.iterations) + " iterations");
      const bool finite = cycle(op, preconditioner, residual, norm_b, report, callback, interrupt);
      if (!finite)
        return stop(report, StopReason::not_finite, preconditioner.diagnose());
      space_.add_combination(scaled_solution(), z_, x);
      const double updated = true_residual(op, x, b, report.residuals.back());
      // What the estimate believes and the residual does not have is rounding, which goes on for ever.
      const bool is_rounding =
          !(updated <= 0.9 * residual) && !(report.residuals.back() > 0.5 * updated);
      if (!(updated <= tolerance_ * norm_b) &&
          (is_rounding || stagnation.has_come(updated, report.iterations, restart_)))
      {
        report.true_relative_residual = updated / norm_b;
        return stop(report, std::isfinite(updated) ? StopReason::stagnated : StopReason::not_finite,
            "the true residual was " + number_text(stagnation.residual / norm_b) +
                " after iteration " + std::to_string(stagnation.iteration) + " and is " +
                number_text(updated / norm_b) + " after iteration " +
                std::to_string(report.iterations) + "; " + preconditioner.diagnose());
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

  static constexpr bool has_short_numbers = !std::is_same_v<BasisVector, VectorType>;
  static constexpr double unit_roundoff =
      sizeof(typename BasisVector::value_type) == 4 ? 0x1p-24 : 0x1p-53;

  void grow(std::vector<BasisVector> &vectors, int size)
  {
    while (static_cast<int>(vectors.size()) < size)
      vectors.push_back(short_numbers::make_vector<BasisVector>(space_));
  }

  /// v_[0] = r, whose norm is given.
  void begin_basis_with(const VectorType &r, double norm)
  {
    if constexpr (has_short_numbers)
      round_to_basis(r, norm);
    else
    {
      space_.axpby(1., r, 0., v_[0]);
      norms_ = {norm};
    }
  }

  /// v_[0] = r times a power of two near 1 / expected, in FP32; returns the norm of r.
  double round_to_basis(const VectorType &r, double expected)
  {
    const short_numbers::Scaled rounded = short_numbers::round_near_one(space_, r, expected, v_[0]);
    norms_ = {rounded.stored_norm};
    return rounded.norm();
  }

  /// Begins the basis with b - A x; returns its norm, which is about what is expected.
  template <typename Operator>
  double true_residual(Operator &op, const VectorType &x, const VectorType &b, double expected)
  {
    if constexpr (has_short_numbers)
    {
      op.residual(r_, x, b);
      return round_to_basis(r_, expected);
    }
    else
    {
      op.residual(v_[0], x, b);
      norms_ = {space_.norm(v_[0])};
      return norms_[0];
    }
  }

  /// At which estimate a cycle ends.
  static double end_of_cycle(double start, double target)
  {
    return has_short_numbers ? short_numbers::end_of_cycle(start, target) : target;
  }

  /// One cycle of at most restart_ steps from v_[0] = residual, whose norm is norm_r. False if something was not
  /// finite.
  template <typename Operator, typename Precond>
  bool cycle(Operator &op, Precond &preconditioner, double norm_r, double norm_b,
      SolveReport &report, const IterationCallback &callback, const Interrupt &interrupt)
  {
    rhs_ = {norm_r};
    columns_.clear();
    estimated_.reset();
    cosines_.clear();
    sines_.clear();
    double estimate = norm_r;
    // More digits than a number has cannot come out of one cycle: then the true residual decides.
    const double target = end_of_cycle(norm_r, std::max(tolerance_ * norm_b, 1e-16 * norm_r));
    while (steps() < restart_ && report.iterations < max_iterations_ && estimate > target)
    {
      const int j = steps();
      grow(v_, j + 2);
      grow(z_, j + 1);
      preconditioner.apply(z_[j], v_[j], norms_[j]);
      op.vmult(v_[j + 1], z_[j]);
      if (!orthogonalise(j, report))
        return false;
      estimate = rotate(j);
      ++report.iterations;
      report.residuals.push_back(estimate);
      if (callback)
        callback(report.iterations, estimate / norm_b);
      if (norms_.back() == 0. || (interrupt && interrupt())) // 0: the solution lies in the space
        break;
    }
    return true;
  }

  int steps() const { return static_cast<int>(columns_.size()); }

  /// What was there before the rotation of a column whose last entry is an estimate.
  struct EstimatedColumn
  {
    std::vector<double> column;
    double rhs;
    double unit; ///< of the last entry: what it is for a norm of one
    decltype(std::declval<const Space &>().multi_update_later(std::vector<double>(),
        std::declval<const std::vector<BasisVector> &>(), std::declval<BasisVector &>(), 1.)) norm;
  };

  /// Puts the norm of the newest basis vector, which is known now, in the place of its estimate.
  void finish_column(SolveReport &report)
  {
    if (!estimated_)
      return;
    const int j = steps() - 1;
    norms_.back() = std::sqrt(Space::known(estimated_->norm));
    columns_[j] = std::move(estimated_->column);
    columns_[j][j + 1] = norms_.back() * estimated_->unit;
    rhs_.pop_back();
    rhs_[j] = estimated_->rhs;
    cosines_.pop_back();
    sines_.pop_back();
    report.residuals.back() = rotate(j);
    estimated_.reset();
  }

  /// The dot products of v_[0..j] with w and of w with itself, and what is left of the square of w.
  struct Dots
  {
    std::vector<double> of_basis;
    double before = 0., rest = 0.;
  };
  Dots dots_with(const BasisVector &w, int j, SolveReport &report)
  {
    Dots dots{space_.multi_dot(v_, j + 1, w)};
    finish_column(report);
    dots.before = dots.rest = dots.of_basis[j + 1];
    for (int i = 0; i <= j; ++i)
      dots.rest -= dots.of_basis[i] / norms_[i] * (dots.of_basis[i] / norms_[i]);
    return dots;
  }

  /// v_[j+1] = A z_j made orthogonal to v_[0..j], times a power of two. z_j belongs to v_[j] with its norm, so all
  /// columns refer to the normalised basis after division by that norm.
  bool orthogonalise(int j, SolveReport &report)
  {
    // Cancellation below this factor would leave less than 13 digits of orthogonality in FP64, less than 4 in
    // FP32, where an error of the estimate of that size is harmless.
    constexpr double threshold = 1e-3;
    // Of the square: so the estimate of the norm has 12 digits in FP64, 3 in FP32.
    constexpr double enough = 1e-4;
    BasisVector &w = v_[j + 1];
    std::vector<double> column(j + 2, 0.);
    double first = 0., after = 0., scale = 1.; // w = scale * what it is without powers of two
    for (int pass = 0; pass < 2; ++pass)
    {
      const Dots dots = dots_with(w, j, report);
      if (pass == 0)
        first = dots.before;
      const double factor = short_numbers::inverse_power_of_two(
          std::sqrt(std::max(dots.rest, threshold * threshold * dots.before)));
      std::vector<double> update(j + 1);
      for (int i = 0; i <= j; ++i)
      {
        column[i] += dots.of_basis[i] / norms_[i] / norms_[j] / scale;
        update[i] = -factor * dots.of_basis[i] / (norms_[i] * norms_[i]);
      }
      if (!std::isfinite(dots.before))
        return false;
      const auto norm = space_.multi_update_later(update, v_, w, factor);
      scale *= factor;
      if (pass == 0 && dots.rest > enough * dots.before)
      {
        norms_.push_back(factor * std::sqrt(dots.rest));
        const double unit = 1. / (norms_[j] * scale);
        column[j + 1] = norms_.back() * unit;
        estimated_ = EstimatedColumn{column, rhs_[j], unit, norm};
        columns_.push_back(std::move(column));
        return true;
      }
      after = space_.wait_for(norm);
      if (!std::isfinite(after))
        return false;
      if (after > threshold * threshold * factor * factor * dots.before)
        break;
    }
    // What is left of a vector in the span of the others is rounding. A basis of that would lose all digits in
    // each step until its squares underflow.
    constexpr double nothing = 81. * unit_roundoff * unit_roundoff;
    if (after < nothing * scale * scale * first)
      after = 0.;
    norms_.push_back(std::sqrt(after));
    column[j + 1] = norms_.back() / norms_[j] / scale;
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
  VectorType r_; ///< in the outer precision, if the basis has another
  std::vector<BasisVector> v_, z_;
  std::vector<double> norms_; ///< of v_ as they are stored
  std::vector<double> rhs_, cosines_, sines_;
  std::vector<std::vector<double>> columns_;
  std::optional<EstimatedColumn> estimated_; ///< the newest one, if it is that
};
} // namespace tensormg
