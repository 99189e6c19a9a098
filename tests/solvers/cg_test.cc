// Conjugate gradients: deal.II's iterations and solution, every way to stop.
#include "solvers/cg.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/dealii_krylov.h"

namespace tensormg
{
namespace
{
  using namespace test;
  using Solver = ConjugateGradients<DenseSpace>;

  constexpr std::size_t n = 60;

  struct Result
  {
    SolveReport report;
    DenseVector x;
  };

  template <typename Operator>
  Result solve(Operator &a, FunctionPreconditioner p, const DenseVector &b, double tolerance = 1e-9,
      int max_iterations = 300)
  {
    const DenseSpace space{b.size()};
    Result result{{}, DenseVector(b.size(), 0.)};
    result.report = Solver(space, tolerance, max_iterations).solve(a, p, result.x, b);
    return result;
  }

  void expect_consistent(const Result &r, const DenseOperator &a, const DenseVector &b)
  {
    ASSERT_EQ(static_cast<int>(r.report.residuals.size()), r.report.iterations + 1);
    const double residual = relative_residual(a, r.x, b);
    EXPECT_NEAR(r.report.true_relative_residual, residual, 1e-6 * residual + 1e-14);
    EXPECT_EQ(r.report.detail.empty(), r.report.converged());
  }

  TEST(Cg, AgreesWithDealii)
  {
    DenseOperator a = diffusion(n, 0.);
    for (const double tolerance : {1e-3, 1e-8, 1e-12})
      for (unsigned seed = 1; seed < 4; ++seed)
      {
        const DenseVector b = random_dense(n, seed);
        for (const bool preconditioned : {false, true})
        {
          const auto p = [&] { return preconditioned ? diagonal_of(a) : identity(); };
          const Result mine = solve(a, p(), b, tolerance);
          const DealiiResult other = dealii_cg(a, p(), b, tolerance, 300);
          EXPECT_TRUE(mine.report.converged()) << mine.report.detail;
          EXPECT_NEAR(mine.report.iterations, other.iterations, 1);
          EXPECT_LT(relative_distance(mine.x, other.x), 1e4 * tolerance);
          EXPECT_LE(relative_residual(a, mine.x, b), 1.001 * tolerance);
          expect_consistent(mine, a, b);
        }
      }
  }

  TEST(Cg, ExactPreconditionerAndExactStart)
  {
    DenseOperator a(n);
    for (std::size_t i = 0; i < n; ++i)
      a(i, i) = 1. + static_cast<double>(i);
    const DenseVector b = random_dense(n, 4);
    Result one = solve(a, diagonal_of(a), b, 1e-14);
    EXPECT_TRUE(one.report.converged());
    EXPECT_EQ(one.report.iterations, 1);
    const DenseSpace space{n};
    FunctionPreconditioner p = identity();
    const SolveReport none = Solver(space, 1e-12, 10).solve(a, p, one.x, b);
    EXPECT_TRUE(none.converged());
    EXPECT_EQ(none.iterations, 0);
  }

  /// -u'' on a line, and its inverse rounded to multiples of 2^-10 of the largest entry: what half precision
  /// makes of a smooth correction, whose error is rough.
  TEST(Cg, PreconditionerThatRounds)
  {
    constexpr std::size_t size = 256;
    DenseOperator a(size);
    for (std::size_t i = 0; i < size; ++i)
    {
      a(i, i) = 2.;
      if (i > 0)
        a(i, i - 1) = a(i - 1, i) = -1.;
    }
    const auto inverse = [](bool rounds) {
      return FunctionPreconditioner{[=](DenseVector &z, const DenseVector &r) {
        DenseVector pivot(r.size(), 2.); // Gaussian elimination
        z = r;
        for (std::size_t i = 1; i < size; ++i)
        {
          pivot[i] = 2. - 1. / pivot[i - 1];
          z[i] += z[i - 1] / pivot[i - 1];
        }
        for (std::size_t i = size; i-- > 0;)
          z[i] = (z[i] + (i + 1 < size ? z[i + 1] : 0.)) / pivot[i];
        double largest = 0.;
        for (const double entry : z)
          largest = std::max(largest, std::abs(entry));
        if (rounds)
          for (double &entry : z)
            entry = std::round(entry / largest * 1024.) / 1024. * largest;
      }};
    };
    const DenseVector b(size, 1.);
    const Result exact = solve(a, inverse(false), b), rounded = solve(a, inverse(true), b);
    EXPECT_EQ(exact.report.iterations, 1);
    EXPECT_TRUE(rounded.report.converged()) << rounded.report.detail;
    EXPECT_GT(rounded.report.residuals[1], rounded.report.residuals[0]) << "nothing to repair";
    EXPECT_LE(rounded.report.iterations, 6);
    expect_consistent(rounded, a, b);
  }

  TEST(Cg, ZeroRightHandSide)
  {
    DenseOperator a = diffusion(n, 0.);
    const DenseSpace space{n};
    for (const double start : {1., std::nan("")})
    {
      DenseVector x(n, start);
      FunctionPreconditioner p = identity();
      const SolveReport report = Solver(space, 1e-8, 10).solve(a, p, x, DenseVector(n, 0.));
      EXPECT_TRUE(report.converged());
      EXPECT_EQ(report.iterations, 0);
      EXPECT_EQ(x, DenseVector(n, 0.));
    }
  }

  TEST(Cg, ScaleOfTheRightHandSideIsIrrelevant)
  {
    DenseOperator a = diffusion(n, 0.);
    const Result one = solve(a, diagonal_of(a), random_dense(n, 5));
    for (const double scale : {1e-30, 1e-8, 1e8, 1e30})
    {
      DenseVector b = random_dense(n, 5);
      for (double &value : b)
        value *= scale;
      Result r = solve(a, diagonal_of(a), b);
      EXPECT_TRUE(r.report.converged()) << scale;
      EXPECT_NEAR(r.report.iterations, one.report.iterations, 1) << scale;
      expect_consistent(r, a, b);
      for (double &value : r.x)
        value /= scale;
      EXPECT_LT(relative_distance(r.x, one.x), 1e-7) << scale;
    }
  }

  TEST(Cg, NotFinite)
  {
    DenseOperator a = diffusion(n, 0.);
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
      for (const int at_call : {1, 3})
      {
        FunctionPreconditioner p{[=, call = 0](DenseVector &z, const DenseVector &r) mutable {
          z = r;
          if (++call == at_call)
            z[17] = bad;
        }};
        const Result r = solve(a, p, random_dense(n, 6));
        EXPECT_EQ(r.report.reason, StopReason::not_finite);
        EXPECT_EQ(r.report.iterations, at_call - 1);
        for (const double value : r.x)
          ASSERT_TRUE(std::isfinite(value)) << "what is not finite stays out of the solution";
      }
    DenseVector b = random_dense(n, 6);
    b[3] = std::nan("");
    EXPECT_EQ(solve(a, identity(), b).report.reason, StopReason::not_finite);
    a(5, 5) = std::nan("");
    EXPECT_EQ(solve(a, identity(), random_dense(n, 6)).report.reason, StopReason::not_finite);
  }

  TEST(Cg, SaysWhenThePreconditionerIsNotPositive)
  {
    DenseOperator a = diffusion(n, 0.);
    const DenseVector b = random_dense(n, 7);
    for (const double factor : {-1., -1e-20, 0.})
    {
      const Result r = solve(a, scaled(factor), b);
      EXPECT_EQ(r.report.reason, StopReason::indefinite_preconditioner);
      EXPECT_NE(r.report.detail.find("z'r"), std::string::npos);
      expect_consistent(r, a, b);
      EXPECT_NE(r.report.detail.find("fgmres"), std::string::npos) << "the way out is named";
      EXPECT_EQ(r.report.iterations, 0);
    }
    // Indefinite: one direction has the wrong sign; some residual meets it.
    FunctionPreconditioner mixed{[](DenseVector &z, const DenseVector &r) {
      z = r;
      for (std::size_t i = 0; i < n / 2; ++i)
        z[i] = -2. * r[i];
    }};
    const Result some = solve(a, mixed, b);
    EXPECT_EQ(some.report.reason, StopReason::indefinite_preconditioner);
    expect_consistent(some, a, b);
    DenseOperator negative(n);
    for (std::size_t i = 0; i < n; ++i)
      negative(i, i) = -1.;
    const Result r = solve(negative, identity(), b);
    EXPECT_EQ(r.report.reason, StopReason::indefinite_preconditioner);
    EXPECT_NE(r.report.detail.find("p'Ap"), std::string::npos);
  }

  TEST(Cg, ToleranceBelowRounding)
  {
    for (const double tolerance : {1e-17, 0.})
    {
      DenseOperator a = diffusion(n, 0.);
      const DenseVector b = random_dense(n, 9);
      const Result r = solve(a, diagonal_of(a), b, tolerance, 100000);
      EXPECT_FALSE(r.report.converged());
      EXPECT_EQ(r.report.reason, StopReason::stagnated) << r.report.detail;
      EXPECT_LT(r.report.true_relative_residual, 1e-13);
      EXPECT_LT(r.report.iterations, 2000);
    }
  }

  TEST(Cg, IterationLimit)
  {
    DenseOperator a = diffusion(n, 0.);
    const DenseVector b = random_dense(n, 10);
    for (const int limit : {0, 1, 5, 12})
    {
      const Result r = solve(a, identity(), b, 1e-12, limit);
      EXPECT_EQ(r.report.reason, StopReason::iteration_limit);
      EXPECT_EQ(r.report.iterations, limit);
      expect_consistent(r, a, b);
    }
  }

  struct LyingOperator : DenseOperator
  {
    double factor;
    LyingOperator(const DenseOperator &a, double factor_)
      : DenseOperator(a)
      , factor(factor_)
    {}
    void vmult(DenseVector &y, const DenseVector &x)
    {
      multiply(y, x);
      for (double &value : y)
        value *= factor;
    }
  };

  TEST(Cg, BelievesTheTrueResidualOnly)
  {
    const DenseOperator a = diffusion(n, 0.);
    const DenseVector b = random_dense(n, 11);
    LyingOperator slightly(a, 1.001);
    const Result r = solve(slightly, diagonal_of(a), b, 1e-9, 2000);
    EXPECT_TRUE(r.report.converged()) << r.report.detail;
    EXPECT_LE(relative_residual(a, r.x, b), 1e-9 * 1.001);
    expect_consistent(r, a, b);
    // Steps three times too long: the recursion converges, the residual doubles.
    LyingOperator grossly(a, 1. / 3.);
    const Result wrong = solve(grossly, diagonal_of(a), b, 1e-9, 2000);
    EXPECT_EQ(wrong.report.reason, StopReason::stagnated);
    EXPECT_NEAR(wrong.report.true_relative_residual, 2., 1e-6);
  }

  TEST(Cg, InterruptEndsItAsTheLimitDoes)
  {
    DenseOperator a = diffusion(n, 0.);
    const DenseVector b = random_dense(n, 10);
    const DenseSpace space{n};
    Result r{{}, DenseVector(n, 0.)};
    FunctionPreconditioner p = identity();
    int last = 0;
    r.report = Solver(space, 1e-12, 300)
                   .solve(
                       a, p, r.x, b, [&](int k, double) { last = k; }, Start::given,
                       [&] { return last >= 6; });
    EXPECT_EQ(r.report.reason, StopReason::iteration_limit);
    EXPECT_EQ(r.report.iterations, 6);
    expect_consistent(r, a, b);
  }

  TEST(Cg, CallbackSeesEveryResidual)
  {
    DenseOperator a = diffusion(n, 0.);
    const DenseVector b = random_dense(n, 12);
    const DenseSpace space{n};
    DenseVector x(n, 0.);
    FunctionPreconditioner p = diagonal_of(a);
    int next = 0;
    std::vector<double> residuals;
    const SolveReport report =
        Solver(space, 1e-9, 300).solve(a, p, x, b, [&](int k, double relative) {
          EXPECT_EQ(k, next++);
          residuals.push_back(relative * space.norm(b));
        });
    ASSERT_EQ(residuals.size(), report.residuals.size());
    for (std::size_t k = 0; k < residuals.size(); ++k)
      EXPECT_NEAR(residuals[k], report.residuals[k], 1e-15 * report.residuals[0]);
  }

  TEST(Report, WordsAndExitCodes)
  {
    const std::pair<StopReason, std::pair<const char *, int>> all[] = {
        {StopReason::converged, {"converged", 0}},
        {StopReason::iteration_limit, {"iteration_limit", 3}},
        {StopReason::stagnated, {"stagnated", 4}}, {StopReason::not_finite, {"not_finite", 5}},
        {StopReason::indefinite_preconditioner, {"indefinite_preconditioner", 6}}};
    for (const auto &[reason, expected] : all)
    {
      EXPECT_STREQ(to_string(reason), expected.first);
      EXPECT_EQ(exit_code(reason), expected.second);
    }
    SolveReport report;
    EXPECT_EQ(report.mean_reduction(), 0.);
    report.iterations = 2;
    report.residuals = {4., 2., 0.25};
    EXPECT_NEAR(report.mean_reduction(), 0.25, 1e-15);
    EXPECT_EQ(number_text(1.2345e-9), "1.23e-09");
    EXPECT_EQ(number_text(-2.), "-2");
  }
} // namespace
} // namespace tensormg
