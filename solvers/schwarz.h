// Schwarz smoothers: exact solves on overlapping subdomains that fall into colours. Within a colour no two overlap.
//
// Multiplicative: x += P_c (b - B x) for one colour after the other, P_c = sum R' A^+ R over the subdomains of that
// colour; the residual is that of the whole operator each time. A backward sweep takes the colours in the opposite
// order: it is the adjoint of a forward one in the B inner product.
//
// Additive: x_{k+1} = x_k + theta_k (x_k - x_{k-1}) + alpha_k P (b - B x_k), P the sum over all colours.
//
// Source: J. Xu, Iterative methods by space decomposition and subspace correction, SIAM Review 34 (1992).
#pragma once

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include "solvers/chebyshev.h"
#include "solvers/smoother.h"
#include "tensormg/options.h"

namespace tensormg
{
/// The steps of additive Schwarz: with damping > 0 those of Richardson's iteration with that factor, with 0 those
/// of the fourth-kind Chebyshev polynomial for lambda_max, an upper bound of the spectrum of P B. None for
/// multiplicative Schwarz. Throws std::invalid_argument for other values.
inline std::vector<ThreeTermStep> schwarz_steps(
    SchwarzKind kind, int sweeps, double damping, double lambda_max)
{
  if (sweeps < 1)
    throw std::invalid_argument("the patch smoother needs at least one sweep");
  if (kind != SchwarzKind::additive)
    return {};
  if (!(damping >= 0.) || (damping == 0. && !(lambda_max > 0.)))
    throw std::invalid_argument(
        "the additive patch smoother needs a positive damping or a positive largest eigenvalue");
  return damping > 0. ? damped_jacobi(sweeps, damping) : chebyshev_fourth_kind(sweeps, lambda_max);
}

/// Whether one of the steps needs x_{k-1}.
inline bool needs_old(const std::vector<ThreeTermStep> &steps)
{
  for (const ThreeTermStep &step : steps)
    if (step.theta != 0.)
      return true;
  return false;
}

/// Vectors that the patch smoother of these options holds besides those that smooth() is given: x_{k-1}.
inline int schwarz_vectors(const MultigridOptions &options)
{
  if (options.smoother != Smoother::patch)
    return 0;
  return needs_old(schwarz_steps(options.schwarz_kind, options.degree, options.damping, 1.)) ? 1
                                                                                             : 0;
}

/// Operator: residual(r, x, b), make_vector(). Correction:
///   n_colours(), add(x, r, colour, factor): x += factor P_colour r, add_all(x, r, factor): of all colours,
///   set_zero(x), extrapolate(theta, x, old): (x, old) = ((1 + theta) x - theta old, x).
/// If it also has can_replace() and replace(y, x, b, colour): y = x + P_colour (b - B x), x = nullptr being zero and
/// y then zero before, multiplicative sweeps take these where can_replace() is true: they need no residual, and
/// x and work change places.
template <typename Operator, typename Correction>
class SchwarzSmoother : public SmootherBase<typename Operator::VectorType>
{
public:
  using VectorType = typename Operator::VectorType;

  /// `op` must outlive the smoother. sweeps >= 1: over all colours, or additive steps. The other arguments and
  /// what is thrown: schwarz_steps().
  SchwarzSmoother(Operator &op, Correction correction, SchwarzKind kind, int sweeps, double damping,
      double lambda_max)
    : op_(op)
    , correction_(std::move(correction))
    , kind_(kind)
    , sweeps_(sweeps)
    , steps_(schwarz_steps(kind, sweeps, damping, lambda_max))
  {
    if (needs_old(steps_))
      old_ = op.make_vector();
  }

  void smooth(
      VectorType &x, const VectorType &b, VectorType &work, bool zero_start, bool forward) override
  {
    if (zero_start)
      correction_.set_zero(x);
    if (kind_ == SchwarzKind::multiplicative)
      multiplicative(x, b, work, zero_start, forward);
    else
      additive(x, b, work, zero_start);
  }

  int exchanges(bool zero_start) const override
  {
    return kind_ == SchwarzKind::multiplicative && replaces()
        ? sweeps_ * correction_.n_colours() - (zero_start ? 1 : 0)
        : 0;
  }

private:
  static constexpr bool has_replace =
      requires(Correction & correction, VectorType &y, const VectorType &x)
  {
    correction.replace(y, &x, x, 0);
  };
  bool replaces() const
  {
    if constexpr (has_replace)
      return correction_.can_replace();
    else
      return false;
  }

  void multiplicative(
      VectorType &x, const VectorType &b, VectorType &work, bool zero_start, bool forward)
  {
    const int n_colours = correction_.n_colours();
    for (int k = 0; k < sweeps_ * n_colours; ++k)
    {
      const int colour = forward ? k % n_colours : n_colours - 1 - k % n_colours;
      const bool residual_is_b = zero_start && k == 0;
      if constexpr (has_replace)
        if (replaces())
        {
          correction_.replace(residual_is_b ? x : work, residual_is_b ? nullptr : &x, b, colour);
          if (!residual_is_b)
            x.swap(work);
          continue;
        }
      if (!residual_is_b)
        op_.residual(work, x, b);
      correction_.add(x, residual_is_b ? b : work, colour, 1.);
    }
  }

  void additive(VectorType &x, const VectorType &b, VectorType &work, bool zero_start)
  {
    for (std::size_t k = 0; k < steps_.size(); ++k)
    {
      const bool residual_is_b = zero_start && k == 0;
      if (!residual_is_b)
        op_.residual(work, x, b);
      const double theta = steps_[k].theta;
      if (theta != 0. || (k + 1 < steps_.size() && steps_[k + 1].theta != 0.))
        correction_.extrapolate(theta, x, old_);
      correction_.add_all(x, residual_is_b ? b : work, steps_[k].alpha);
    }
  }

  Operator &op_;
  Correction correction_;
  SchwarzKind kind_;
  int sweeps_;
  std::vector<ThreeTermStep> steps_; ///< additive
  VectorType old_{};                 ///< x_{k-1} of the additive steps, if they need it
};
} // namespace tensormg
