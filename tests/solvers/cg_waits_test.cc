// How often conjugate gradients wait for a number, and that they use none before.
#include <cmath>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "solvers/cg.h"
#include "tests/support/dense_problem.h"

namespace tensormg
{
namespace
{
  using namespace test;

  /// Knows what dot_later() computes only after a function has returned a number, as a device does.
  struct LateSpace : DenseSpace
  {
    struct Later
    {
      double number = 0.;
      int computed_before_wait = 0; ///< the one that makes it known
    };
    static inline int waits = 0;

    double dot(const DenseVector &x, const DenseVector &y) const
    {
      ++waits;
      return DenseSpace::dot(x, y);
    }
    double norm(const DenseVector &x) const { return std::sqrt(dot(x, x)); }
    Later dot_later(const DenseVector &x, const DenseVector &y) const
    {
      return {DenseSpace::dot(x, y), waits + 1};
    }
    std::vector<Later> multi_dot_later(
        const std::vector<DenseVector> &v, int count, const DenseVector &w) const
    {
      std::vector<Later> result;
      for (int i = 0; i < count; ++i)
        result.push_back(dot_later(v[i], w));
      return result;
    }
    static double known(double sum) { return sum; }
    static double known(const Later &later)
    {
      if (waits < later.computed_before_wait)
        throw std::logic_error("the number is not known yet");
      return later.number;
    }
    static Quotient quotient(double factor, const Later &numerator, const Later &denominator)
    {
      return {factor, numerator.number, denominator.number};
    }
    using DenseSpace::axpby;
    double cg_update(const Quotient &step, double unit, const DenseVector &p, const DenseVector &q,
        DenseVector &x, DenseVector &r) const
    {
      ++waits;
      return DenseSpace::cg_update(step, unit, p, q, x, r);
    }
  };

  TEST(CgWaits, OncePerStep)
  {
    constexpr std::size_t n = 60;
    DenseOperator a = diffusion(n, 0.);
    const DenseVector b = random_dense(n, 1);
    FunctionPreconditioner p = diagonal_of(a);
    DenseVector x(n, 0.), of_dense(n, 0.);
    LateSpace space;
    space.size = n;
    LateSpace::waits = 0;
    const SolveReport report =
        ConjugateGradients<LateSpace>(space, 1e-9, 300).solve(a, p, x, b, {}, Start::zero);
    EXPECT_TRUE(report.converged()) << report.detail;
    EXPECT_GT(report.iterations, 10);
    EXPECT_EQ(LateSpace::waits, report.iterations + 2) << "the norms of b and of the last residual";

    const DenseSpace dense{n};
    ConjugateGradients<DenseSpace>(dense, 1e-9, 300).solve(a, p, of_dense, b, {}, Start::zero);
    EXPECT_EQ(x, of_dense);
  }
} // namespace
} // namespace tensormg
