// FGMRES and CG: starts that are worse than zero, cycles of few steps.
#include <limits>

#include <gtest/gtest.h>

#include "solvers/cg.h"
#include "solvers/fgmres.h"
#include "tests/support/dense_problem.h"

namespace tensormg
{
namespace
{
  using namespace test;

  constexpr std::size_t n = 60;

  FunctionPreconditioner identity()
  {
    return {[](DenseVector &z, const DenseVector &r) { z = r; }};
  }

  TEST(Fgmres, SlowCyclesOfFewStepsGoOn)
  {
    // One step reduces the residual by 39/41 at worst.
    DenseOperator a(n);
    for (std::size_t i = 0; i < n; ++i)
      a(i, i) = 1. + 39. * static_cast<double>(i) / (n - 1.);
    const DenseVector b = random_dense(n, 8);
    const DenseSpace space{n};
    for (const int restart : {1, 2, 3})
    {
      FunctionPreconditioner p = identity();
      DenseVector x(n, 0.);
      const SolveReport report = Fgmres<DenseSpace>(space, 1e-8, 1000, restart).solve(a, p, x, b);
      EXPECT_TRUE(report.converged()) << report.detail;
      EXPECT_LE(relative_residual(a, x, b), 1e-8);
      EXPECT_TRUE(restart > 1 || report.residuals[20] > 0.9 * report.residuals[19]);
    }
  }

  template <typename Method>
  void expect_better_starts_only(Method method)
  {
    DenseOperator a = diffusion(n, 0.);
    const DenseVector b = random_dense(n, 3), wild = random_dense(n, 4);
    FunctionPreconditioner p = identity();
    DenseVector zero(n, 0.), x(n);
    const SolveReport from_zero = method.solve(a, p, zero, b);
    for (std::size_t i = 0; i < n; ++i)
      x[i] = 1e6 * wild[i];
    const SolveReport dropped = method.solve(a, p, x, b, {}, Start::given_if_better);
    EXPECT_TRUE(dropped.converged());
    EXPECT_TRUE(dropped.dropped_start);
    EXPECT_EQ(dropped.residuals, from_zero.residuals);
    EXPECT_EQ(x, zero);
    // The solution is better than zero.
    const SolveReport kept = method.solve(a, p, x, b, {}, Start::given_if_better);
    EXPECT_FALSE(kept.dropped_start);
    EXPECT_EQ(kept.iterations, 0);
    // Not finite is not better.
    x.assign(n, std::numeric_limits<double>::quiet_NaN());
    const SolveReport nan = method.solve(a, p, x, b, {}, Start::given_if_better);
    EXPECT_TRUE(nan.converged() && nan.dropped_start) << nan.detail;
  }

  TEST(Start, IsDroppedIfZeroIsBetter)
  {
    const DenseSpace space{n};
    expect_better_starts_only(Fgmres<DenseSpace>(space, 1e-9, 200, 100));
    expect_better_starts_only(ConjugateGradients<DenseSpace>(space, 1e-9, 200));
  }
} // namespace
} // namespace tensormg
