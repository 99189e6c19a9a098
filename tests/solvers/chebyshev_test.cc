// The polynomials of the smoothers against their closed forms, and the three-term smoother itself.
#include "solvers/chebyshev.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  /// Factor by which the steps multiply the error of an eigenvector with this eigenvalue of D^-1 B.
  double error_polynomial(const std::vector<ThreeTermStep> &steps, double lambda)
  {
    double old = 0., error = 1.;
    for (const ThreeTermStep &step : steps)
    {
      const double next = error + step.theta * (error - old) - step.alpha * lambda * error;
      old = error;
      error = next;
    }
    return error;
  }

  /// T_k(t) for any t.
  double chebyshev_t(int k, double t)
  {
    if (std::abs(t) <= 1.)
      return std::cos(k * std::acos(t));
    return (t < 0. && k % 2 == 1 ? -1. : 1.) * std::cosh(k * std::acosh(std::abs(t)));
  }

  TEST(Chebyshev, FirstKindIsTheScaledPolynomial)
  {
    for (const double upper : {1., 1.95, 20.})
      for (const double range : {4., 15.})
        for (int degree = 1; degree <= 8; ++degree)
        {
          const auto steps = chebyshev_first_kind(degree, upper, range);
          ASSERT_EQ(static_cast<int>(steps.size()), degree);
          EXPECT_EQ(steps[0].theta, 0.);
          const double lower = upper / range;
          const auto t = [&](double lambda) {
            return (upper + lower - 2. * lambda) / (upper - lower);
          };
          const double bound = 1. / chebyshev_t(degree, t(0.));
          double largest = 0.;
          for (int i = 0; i <= 400; ++i)
          {
            const double lambda = 1.1 * upper * i / 400.;
            const double error = error_polynomial(steps, lambda);
            EXPECT_NEAR(error, chebyshev_t(degree, t(lambda)) * bound, 1e-12);
            if (lambda >= lower && lambda <= upper)
              largest = std::max(largest, std::abs(error));
          }
          EXPECT_LE(largest, bound * (1. + 1e-12)) << "the bound on [lower, upper]";
          EXPECT_NEAR(std::abs(error_polynomial(steps, lower)), bound, 1e-12)
              << "and it is attained";
          EXPECT_LT(bound, 1.);
        }
  }

  TEST(Chebyshev, FourthKindIsTheScaledPolynomial)
  {
    for (const double upper : {1., 1.95, 20.})
      for (int degree = 1; degree <= 8; ++degree)
      {
        const auto steps = chebyshev_fourth_kind(degree, upper);
        ASSERT_EQ(static_cast<int>(steps.size()), degree);
        EXPECT_EQ(steps[0].theta, 0.);
        double largest = 0.;
        for (int i = 1; i < 400; ++i)
        {
          // W_k(cos a) = sin((k + 1/2) a) / sin(a / 2), error W_k(1 - 2 lambda / upper) / (2k + 1).
          const double lambda = upper * i / 400., a = std::acos(1. - 2. * lambda / upper);
          const double expected =
              std::sin((degree + 0.5) * a) / std::sin(0.5 * a) / (2. * degree + 1.);
          const double error = error_polynomial(steps, lambda);
          EXPECT_NEAR(error, expected, 1e-12);
          largest = std::max(largest, std::sqrt(lambda / upper) * std::abs(error));
        }
        // What makes it optimal for V-cycles: lambda^(1/2) |error| is at most 1 / (2k + 1).
        EXPECT_LE(largest, 1. / (2. * degree + 1.) * (1. + 1e-12));
        EXPECT_GT(largest, 0.99 / (2. * degree + 1.));
        EXPECT_NEAR(error_polynomial(steps, 0.), 1., 1e-14);
      }
  }

  TEST(Chebyshev, DampedJacobiIsARichardsonIteration)
  {
    const auto steps = damped_jacobi(3, 0.7);
    ASSERT_EQ(steps.size(), 3u);
    for (const double lambda : {0., 0.4, 1., 1.9})
      EXPECT_NEAR(error_polynomial(steps, lambda), std::pow(1. - 0.7 * lambda, 3), 1e-15);
  }

  /// Diagonal B with D = 2; notes what it is asked for.
  struct DiagonalOperator
  {
    using VectorType = std::vector<double>;
    std::vector<double> lambda; ///< of D^-1 B
    int steps = 0;

    bool has_pointwise_diagonal() const { return true; }
    void inverse_diagonal(VectorType &x, const VectorType &b, double alpha) const
    {
      for (std::size_t i = 0; i < lambda.size(); ++i)
        x[i] = alpha / 2. * b[i];
    }
    void chebyshev_step(VectorType &dst, const VectorType &src, const VectorType *old,
        const VectorType &b, double theta, double alpha)
    {
      ++steps;
      for (std::size_t i = 0; i < lambda.size(); ++i)
      {
        const double before = old ? (*old)[i] : 0.;
        dst[i] = src[i] + theta * (src[i] - before) + alpha / 2. * (b[i] - 2. * lambda[i] * src[i]);
      }
    }
  };

  class Smoothing : public testing::TestWithParam<std::vector<ThreeTermStep>>
  {};
  INSTANTIATE_TEST_SUITE_P(Kinds, Smoothing,
      testing::Values(chebyshev_fourth_kind(1, 2.), chebyshev_fourth_kind(2, 2.),
          chebyshev_fourth_kind(5, 2.), chebyshev_first_kind(1, 2., 10.),
          chebyshev_first_kind(4, 2., 10.), damped_jacobi(1, 0.6), damped_jacobi(2, 0.6),
          damped_jacobi(5, 0.6)));

  TEST_P(Smoothing, MultipliesTheErrorByThePolynomial)
  {
    const std::vector<ThreeTermStep> steps = GetParam();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    DiagonalOperator op{{0.01, 0.3, 0.9, 1.4, 2.}};
    ThreeTermSmoother<DiagonalOperator> smoother(op, steps);
    const std::vector<double> solution{1., -2., 3., 0.5, -0.25};
    std::vector<double> b;
    for (std::size_t i = 0; i < 5; ++i)
      b.push_back(2. * op.lambda[i] * solution[i]);

    for (const bool forward : {true, false})
    {
      // From zero, whatever the vectors hold.
      std::vector<double> x(5, nan), work(5, nan);
      op.steps = 0;
      smoother.smooth(x, b, work, true, forward);
      EXPECT_EQ(op.steps, static_cast<int>(steps.size()) - 1)
          << "the first step from zero is a scaling";
      for (std::size_t i = 0; i < 5; ++i)
        EXPECT_NEAR(solution[i] - x[i], error_polynomial(steps, op.lambda[i]) * solution[i], 1e-14);

      // The same, if somebody else has made the first step.
      std::vector<double> after(5), rest(5, nan);
      op.inverse_diagonal(after, b, smoother.first_step());
      smoother.smooth_after_first_step(after, b, rest);
      EXPECT_EQ(after, x);

      // From an iterate.
      std::vector<double> y{0.3, 0.2, -0.1, 4., 1.};
      const std::vector<double> start = y;
      work.assign(5, nan);
      op.steps = 0;
      smoother.smooth(y, b, work, false, forward);
      EXPECT_EQ(op.steps, static_cast<int>(steps.size()));
      for (std::size_t i = 0; i < 5; ++i)
        EXPECT_NEAR(solution[i] - y[i],
            error_polynomial(steps, op.lambda[i]) * (solution[i] - start[i]), 1e-13);
    }
  }

  TEST(ThreeTermSmoother, NeedsAStep)
  {
    DiagonalOperator op{{1.}};
    EXPECT_THROW(ThreeTermSmoother<DiagonalOperator>(op, {}), std::invalid_argument);
  }
} // namespace
} // namespace tensormg
