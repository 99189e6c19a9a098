// Chebyshev smoothers on the cell-wise fast-diagonalisation inverse D^-1.
//
// First kind: the Chebyshev iteration on [lambda_max / range, lambda_max] (Saad, Iterative Methods,
// algorithm 12.1). Fourth kind: J. Lottes, Optimal polynomial smoothers for multigrid V-cycles, Numer.
// Linear Algebra Appl. 30 (2023), algorithm 3.1; it needs lambda_max only. Both are three-term recurrences
//   x_{k+1} = x_k + theta_k (x_k - x_{k-1}) + alpha_k D^-1 (b - B x_k),
// so one step is one pass of the operator over x_k, x_{k-1}, b. Damped Jacobi has theta = 0 and constant
// alpha. All are polynomials in D^-1 B, so pre- and post-smoother are adjoint to each other.
#pragma once

#include <stdexcept>
#include <vector>

#include "solvers/smoother.h"

namespace tensormg
{
struct ThreeTermStep
{
  double theta;
  double alpha;
};

/// Coefficients of `degree` >= 1 steps; the first has theta = 0.
inline std::vector<ThreeTermStep> chebyshev_first_kind(
    int degree, double lambda_max, double smoothing_range)
{
  const double lower = lambda_max / smoothing_range;
  const double centre = 0.5 * (lambda_max + lower), radius = 0.5 * (lambda_max - lower);
  std::vector<ThreeTermStep> steps{{0., 1. / centre}};
  double rho = radius / centre;
  for (int k = 1; k < degree; ++k)
  {
    const double next = 1. / (2. * centre / radius - rho);
    steps.push_back({next * rho, 2. * next / radius});
    rho = next;
  }
  return steps;
}

inline std::vector<ThreeTermStep> chebyshev_fourth_kind(int degree, double lambda_max)
{
  std::vector<ThreeTermStep> steps;
  for (int k = 1; k <= degree; ++k)
    steps.push_back({k == 1 ? 0. : (2. * k - 3.) / (2. * k + 1.),
        (8. * k - 4.) / ((2. * k + 1.) * lambda_max)});
  return steps;
}

inline std::vector<ThreeTermStep> damped_jacobi(int sweeps, double damping)
{
  return std::vector<ThreeTermStep>(sweeps, {0., damping});
}

/// Operator: chebyshev_step, inverse_diagonal and has_pointwise_diagonal as in operators/constant/laplace_operator.h.
template <typename Operator>
class ThreeTermSmoother : public SmootherBase<typename Operator::VectorType>
{
public:
  using VectorType = typename Operator::VectorType;

  ThreeTermSmoother(Operator &op, std::vector<ThreeTermStep> steps)
    : op_(op)
    , steps_(std::move(steps))
  {
    if (steps_.empty())
      throw std::invalid_argument("a smoother needs at least one step");
  }

  void smooth(VectorType &x, const VectorType &b, VectorType &work, bool zero_start, bool) override
  {
    if (zero_start)
      op_.inverse_diagonal(x, b, steps_[0].alpha);
    run_steps(x, b, work, zero_start ? 1 : 0);
  }

  double first_step() const override { return op_.has_pointwise_diagonal() ? steps_[0].alpha : 0.; }
  void smooth_after_first_step(VectorType &x, const VectorType &b, VectorType &work) override
  {
    run_steps(x, b, work, 1);
  }

  int exchanges(bool zero_start) const override
  {
    return static_cast<int>(steps_.size()) - (zero_start ? 1 : 0);
  }

private:
  /// From step k on, with x_{k-1} = 0.
  void run_steps(VectorType &x, const VectorType &b, VectorType &work, std::size_t k)
  {
    // x holds x_k, work holds x_{k-1}, which the step overwrites; then they change names.
    const VectorType *old = nullptr; // the zero vector
    for (; k < steps_.size(); ++k)
    {
      op_.chebyshev_step(work, x, old, b, steps_[k].theta, steps_[k].alpha);
      x.swap(work);
      old = steps_[k].theta == 0. && k + 1 < steps_.size() && steps_[k + 1].theta == 0. ? nullptr
                                                                                        : &work;
    }
  }

  Operator &op_;
  std::vector<ThreeTermStep> steps_;
};
} // namespace tensormg
