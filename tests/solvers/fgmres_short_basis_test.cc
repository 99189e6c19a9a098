// FGMRES with a basis in FP32 and products in FP64: the steps of the basis in FP64, and every way to stop.
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "solvers/fgmres.h"
#include "tests/support/dense_problem.h"

namespace tensormg
{
namespace
{
  using namespace test;

  constexpr std::size_t n = 60;

  struct Result
  {
    SolveReport report;
    DenseVector x;
  };

  template <typename V>
  Result solve_with(DenseOperator &a, FunctionPreconditioner p, const DenseVector &b,
      double tolerance, int max_iterations, int restart)
  {
    const DenseSpace space{b.size()};
    Result result{{}, DenseVector(b.size(), 0.)};
    Fgmres<DenseSpace, V> solver(space, tolerance, max_iterations, restart);
    result.report = solver.solve(a, p, result.x, b);
    return result;
  }

  Result solve(DenseOperator &a, FunctionPreconditioner p, const DenseVector &b, double tolerance,
      int max_iterations, int restart)
  {
    return solve_with<DenseVector>(a, std::move(p), b, tolerance, max_iterations, restart);
  }

  /// What every report must say, however the solve ended.
  void expect_consistent(const Result &r, const DenseOperator &a, const DenseVector &b)
  {
    ASSERT_EQ(static_cast<int>(r.report.residuals.size()), r.report.iterations + 1);
    const double residual = relative_residual(a, r.x, b);
    EXPECT_NEAR(r.report.true_relative_residual, residual, 1e-6 * residual + 1e-14);
    EXPECT_EQ(r.report.detail.empty(), r.report.converged());
  }

  using ShortSolver = Fgmres<DenseSpace, ShortDenseVector>;

  /// The larger the shift, the more each step of Jacobi's preconditioner reduces the residual.
  DenseOperator well_preconditioned(double shift, double skew)
  {
    DenseOperator a = diffusion(n, skew);
    for (std::size_t i = 0; i < n; ++i)
      a(i, i) += shift;
    return a;
  }

  Result solve_short(DenseOperator &a, FunctionPreconditioner p, const DenseVector &b,
      double tolerance = 1e-9, int max_iterations = 200, int restart = 15)
  {
    return solve_with<ShortDenseVector>(a, std::move(p), b, tolerance, max_iterations, restart);
  }

  TEST(FgmresWithShortBasis, TakesTheStepsOfTheLongOne)
  {
    for (const double shift : {5., 30.})
      for (const double skew : {0., 0.4})
        for (const double tolerance : {1e-3, 1e-6, 1e-8, 1e-10, 1e-13})
        {
          SCOPED_TRACE(testing::Message() << shift << ' ' << skew << ' ' << tolerance);
          DenseOperator a = well_preconditioned(shift, skew);
          const DenseVector b = random_dense(n, 1);
          const Result mine = solve_short(a, diagonal_of(a), b, tolerance);
          const Result other = solve(a, diagonal_of(a), b, tolerance, 200, 15);
          EXPECT_TRUE(mine.report.converged()) << mine.report.detail;
          EXPECT_NEAR(mine.report.iterations, other.report.iterations, 1);
          EXPECT_LE(relative_residual(a, mine.x, b), tolerance * (1. + 1e-3));
          expect_consistent(mine, a, b);
        }
  }

  // The true residual of each step comes from a solve with that step as the limit.
  TEST(FgmresWithShortBasis, EstimateIsTheTrueResidualAsFarAsItIsTrusted)
  {
    DenseOperator a = well_preconditioned(5., 0.3);
    const DenseVector b = random_dense(n, 2);
    const SolveReport whole = solve_short(a, diagonal_of(a), b, 1e-12).report;
    for (int limit = 1; limit <= whole.iterations; ++limit)
    {
      const Result r = solve_short(a, diagonal_of(a), b, 1e-12, limit);
      const double estimate = r.report.residuals.back() / r.report.residuals.front();
      EXPECT_NEAR(r.report.true_relative_residual, estimate, 0.1 * estimate) << limit;
      // Until the first cycle ends, rounding has had no time.
      if (estimate > 1e-4)
      {
        EXPECT_NEAR(r.report.true_relative_residual, estimate, 3e-3 * estimate) << limit;
      }
    }
  }

  TEST(FgmresWithShortBasis, CyclesAreShortAndShareTheReduction)
  {
    // From 1 to 1e-8 in two cycles, of which none takes more than half of the steps and one.
    DenseOperator a = well_preconditioned(30., 0.);
    const DenseVector b = random_dense(n, 3);
    const Result r = solve_short(a, diagonal_of(a), b, 1e-8);
    ASSERT_TRUE(r.report.converged());
    int longest = 0, length = 0;
    for (std::size_t k = 1; k < r.report.residuals.size(); ++k)
    {
      ++length;
      longest = std::max(longest, length);
      if (r.report.residuals[k] <= 1e-4 * r.report.residuals.front() &&
          r.report.residuals[k - 1] > 1e-4 * r.report.residuals.front())
        length = 0;
    }
    EXPECT_LE(longest, (r.report.iterations + 2) / 2);
  }

  TEST(FgmresWithShortBasis, ScaleOfTheRightHandSideIsIrrelevant)
  {
    DenseOperator a = well_preconditioned(5., 0.3);
    const Result one = solve_short(a, diagonal_of(a), random_dense(n, 5));
    for (const double scale : {0x1p-400, 1e-30, 1e-8, 1e8, 1e30, 0x1p400})
    {
      DenseVector b = random_dense(n, 5);
      for (double &value : b)
        value *= scale;
      Result r = solve_short(a, diagonal_of(a), b);
      EXPECT_TRUE(r.report.converged()) << scale << ' ' << r.report.detail;
      EXPECT_EQ(r.report.iterations, one.report.iterations) << scale;
      for (double &value : r.x)
        value /= scale;
      EXPECT_LT(relative_distance(r.x, one.x), 1e-8) << scale;
    }
    // A start value whose residual is far from the size of b.
    for (const double size : {1e-25, 1e25})
    {
      const DenseSpace space{n};
      FunctionPreconditioner p = diagonal_of(a);
      DenseVector x(n, size);
      const SolveReport report =
          ShortSolver(space, 1e-9, 400, 15).solve(a, p, x, random_dense(n, 5));
      EXPECT_TRUE(report.converged()) << report.detail;
    }
  }

  TEST(FgmresWithShortBasis, LongBasesStayInTheRangeOfFloat)
  {
    // Each step multiplies by 1e3 or 1e-3: after 60 of them nothing could be stored without a factor.
    for (const double factor : {1e-3, 1e3})
    {
      DenseOperator a = diffusion(n, 0.3);
      FunctionPreconditioner p{[&](DenseVector &z, const DenseVector &r) {
        for (std::size_t i = 0; i < r.size(); ++i)
          z[i] = factor * r[i] / a(i, i);
      }};
      const Result r = solve_short(a, p, random_dense(n, 6), 1e-5, 200, 100);
      EXPECT_TRUE(r.report.converged()) << r.report.detail;
      EXPECT_NEAR(r.report.iterations,
          solve(a, diagonal_of(a), random_dense(n, 6), 1e-5, 200, 100).report.iterations, 1);
    }
  }

  TEST(FgmresWithShortBasis, EndsAsItShould)
  {
    // Exact preconditioner, then only rounding is left: the true residual decides.
    DenseOperator diagonal(n);
    for (std::size_t i = 0; i < n; ++i)
      diagonal(i, i) = 1. + static_cast<double>(i);
    const DenseVector b = random_dense(n, 4);
    const Result exact = solve_short(diagonal, diagonal_of(diagonal), b, 1e-14);
    EXPECT_TRUE(exact.report.converged()) << exact.report.detail;
    EXPECT_LE(exact.report.iterations, 3);
    const Result most = solve_short(diagonal, diagonal_of(diagonal), b, 0.);
    EXPECT_EQ(most.report.reason, StopReason::stagnated) << most.report.detail;
    EXPECT_LT(relative_residual(diagonal, most.x, b), 1e-15);

    DenseOperator small(4); // the Krylov space ends after two steps
    for (std::size_t i = 0; i < 4; ++i)
      small(i, i) = i < 2 ? 1. : 2.;
    const Result ended = solve_short(small, identity(), {1., 1., 1., 1.}, 1e-15);
    EXPECT_TRUE(ended.report.converged()) << ended.report.detail;

    DenseOperator a = well_preconditioned(5., 0.3);
    const Result zero = solve_short(a, diagonal_of(a), DenseVector(n, 0.));
    EXPECT_TRUE(zero.report.converged());
    EXPECT_EQ(zero.report.iterations, 0);
    EXPECT_EQ(zero.x, DenseVector(n, 0.));

    EXPECT_EQ(solve_short(a, scaled(0.), b).report.reason, StopReason::stagnated);
    const Result limited = solve_short(a, diagonal_of(a), b, 1e-12, 5);
    EXPECT_EQ(limited.report.reason, StopReason::iteration_limit);
    EXPECT_EQ(limited.report.iterations, 5);
    expect_consistent(limited, a, b);
    const Result below = solve_short(a, diagonal_of(a), b, 1e-17, 10000);
    EXPECT_EQ(below.report.reason, StopReason::stagnated);
    EXPECT_LT(below.report.true_relative_residual, 1e-14);
  }

  TEST(FgmresWithShortBasis, NotFinite)
  {
    DenseOperator a = well_preconditioned(5., 0.3);
    for (const double bad :
        {std::nan(""), std::numeric_limits<double>::infinity(), 1e39 /* beyond FP32 */})
      for (const int at_call : {1, 3})
      {
        FunctionPreconditioner p{[=, call = 0](DenseVector &z, const DenseVector &r) mutable {
          z = r;
          if (++call == at_call)
            z[17] = bad;
        }};
        const Result r = solve_short(a, p, random_dense(n, 6));
        EXPECT_EQ(r.report.reason, StopReason::not_finite);
        EXPECT_EQ(r.report.detail, "the preconditioner says why");
        for (const double value : r.x)
          ASSERT_TRUE(std::isfinite(value));
      }
    DenseVector b = random_dense(n, 6);
    b[3] = std::nan("");
    EXPECT_EQ(solve_short(a, identity(), b).report.reason, StopReason::not_finite);
  }

  TEST(FgmresWithShortBasis, OneObjectSolvesAgain)
  {
    DenseOperator a = well_preconditioned(5., 0.2);
    const DenseSpace space{n};
    ShortSolver solver(space, 1e-9, 200, 10);
    FunctionPreconditioner p = diagonal_of(a);
    DenseVector first(n, 0.), second(n, 0.), again(n, 0.), prepared(n, 0.);
    const SolveReport report = solver.solve(a, p, first, random_dense(n, 1));
    solver.solve(a, p, second, random_dense(n, 2));
    EXPECT_EQ(solver.solve(a, p, again, random_dense(n, 1)).residuals, report.residuals);
    EXPECT_EQ(first, again) << "bitwise";
    solver.prepare(a, p, prepared, random_dense(n, 1), 8);
    EXPECT_EQ(prepared, DenseVector(n, 0.));
    const SolveReport from_zero = solver.solve(a, p, prepared, random_dense(n, 1), {}, Start::zero);
    EXPECT_EQ(from_zero.residuals, report.residuals);
    EXPECT_EQ(prepared, first);
  }
} // namespace
} // namespace tensormg
