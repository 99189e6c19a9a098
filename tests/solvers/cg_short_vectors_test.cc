// Conjugate gradients with vectors in FP32 and products in FP64: the steps of those in FP64, and every way to stop.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "solvers/cg.h"
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
      double tolerance, int max_iterations)
  {
    const DenseSpace space{b.size()};
    Result result{{}, DenseVector(b.size(), 0.)};
    ConjugateGradients<DenseSpace, V> solver(space, tolerance, max_iterations);
    result.report = solver.solve(a, p, result.x, b);
    return result;
  }

  Result solve_short(DenseOperator &a, FunctionPreconditioner p, const DenseVector &b,
      double tolerance = 1e-9, int max_iterations = 300)
  {
    return solve_with<ShortDenseVector>(a, std::move(p), b, tolerance, max_iterations);
  }

  void expect_consistent(const Result &r, const DenseOperator &a, const DenseVector &b)
  {
    ASSERT_EQ(static_cast<int>(r.report.residuals.size()), r.report.iterations + 1);
    const double residual = relative_residual(a, r.x, b);
    EXPECT_NEAR(r.report.true_relative_residual, residual, 1e-6 * residual + 1e-14);
    EXPECT_EQ(r.report.detail.empty(), r.report.converged());
  }

  DenseOperator well_preconditioned(double shift)
  {
    DenseOperator a = diffusion(n, 0.);
    for (std::size_t i = 0; i < n; ++i)
      a(i, i) += shift;
    return a;
  }

  TEST(CgWithShortVectors, TakesTheStepsOfTheLongOne)
  {
    for (const double shift : {0., 1., 5., 30.})
      for (const double tolerance : {1e-3, 1e-6, 1e-8, 1e-10, 1e-13})
      {
        SCOPED_TRACE(testing::Message() << shift << ' ' << tolerance);
        DenseOperator a = well_preconditioned(shift);
        const DenseVector b = random_dense(n, 1);
        const Result mine = solve_short(a, diagonal_of(a), b, tolerance);
        const Result other = solve_with<DenseVector>(a, diagonal_of(a), b, tolerance, 300);
        EXPECT_TRUE(mine.report.converged()) << mine.report.detail;
        // Without shift it takes all n steps, and orthogonality would have to last for them: rounding doubles them.
        EXPECT_LE(mine.report.iterations,
            shift == 0. ? 2 * other.report.iterations + 20 : other.report.iterations + 2);
        EXPECT_LE(relative_residual(a, mine.x, b), tolerance * (1. + 1e-3));
        expect_consistent(mine, a, b);
      }
  }

  // The true residual of each step comes from a solve with that step as the limit.
  TEST(CgWithShortVectors, RecursionIsTheTrueResidualAsFarAsItIsTrusted)
  {
    DenseOperator a = well_preconditioned(5.);
    const DenseVector b = random_dense(n, 2);
    const SolveReport whole = solve_short(a, diagonal_of(a), b, 1e-12).report;
    for (int limit = 1; limit <= whole.iterations; ++limit)
    {
      const Result r = solve_short(a, diagonal_of(a), b, 1e-12, limit);
      const double estimate = r.report.residuals.back() / r.report.residuals.front();
      EXPECT_NEAR(r.report.true_relative_residual, estimate, 0.1 * estimate) << limit;
    }
  }

  TEST(CgWithShortVectors, ScaleOfTheRightHandSideIsIrrelevant)
  {
    DenseOperator a = well_preconditioned(5.);
    const Result one = solve_short(a, diagonal_of(a), random_dense(n, 5));
    for (const double scale : {0x1p-400, 1e-30, 1e-8, 1e8, 1e30, 0x1p400})
    {
      DenseVector b = random_dense(n, 5);
      for (double &value : b)
        value *= scale;
      Result r = solve_short(a, diagonal_of(a), b);
      EXPECT_TRUE(r.report.converged()) << scale;
      EXPECT_NEAR(r.report.iterations, one.report.iterations, 1) << scale;
      for (double &value : r.x)
        value /= scale;
      EXPECT_LT(relative_distance(r.x, one.x), 1e-7) << scale;
    }
  }

  TEST(CgWithShortVectors, StartsFromWhatItIsGiven)
  {
    DenseOperator a = well_preconditioned(5.);
    const DenseVector b = random_dense(n, 8);
    Result r = solve_short(a, diagonal_of(a), b, 1e-4);
    const DenseSpace space{n};
    ConjugateGradients<DenseSpace, ShortDenseVector> solver(space, 1e-10, 100);
    FunctionPreconditioner p = diagonal_of(a);
    const SolveReport further = solver.solve(a, p, r.x, b);
    EXPECT_TRUE(further.converged());
    EXPECT_LE(further.residuals.front(), 1.001e-4 * further.rhs_norm);
    EXPECT_LE(relative_residual(a, r.x, b), 1.001e-10);
    // The same object once more, from zero.
    DenseVector x(n, 0.);
    EXPECT_TRUE(solver.solve(a, p, x, b, {}, Start::zero).converged());
    EXPECT_LE(relative_residual(a, x, b), 1.001e-10);
  }

  TEST(CgWithShortVectors, EndsAsItShould)
  {
    DenseOperator a = well_preconditioned(1.);
    const DenseVector b = random_dense(n, 10);
    for (const int limit : {0, 1, 5})
    {
      const Result r = solve_short(a, identity(), b, 1e-12, limit);
      EXPECT_EQ(r.report.reason, StopReason::iteration_limit);
      EXPECT_EQ(r.report.iterations, limit);
      expect_consistent(r, a, b);
    }
    const Result negative = solve_short(a, scaled(-1.), b);
    EXPECT_EQ(negative.report.reason, StopReason::indefinite_preconditioner);
    expect_consistent(negative, a, b);
    const Result too_much = solve_short(a, diagonal_of(a), b, 1e-17, 100000);
    EXPECT_EQ(too_much.report.reason, StopReason::stagnated) << too_much.report.detail;
    EXPECT_LT(too_much.report.true_relative_residual, 1e-13);
    FunctionPreconditioner bad{[](DenseVector &z, const DenseVector &r) {
      z = r;
      z[17] = std::numeric_limits<double>::quiet_NaN();
    }};
    EXPECT_EQ(solve_short(a, bad, b).report.reason, StopReason::not_finite);
  }
} // namespace
} // namespace tensormg
