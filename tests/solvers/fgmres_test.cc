// FGMRES: deal.II's iterations and solution, every way to stop, no trust in its own recursion.
#include "solvers/fgmres.h"

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
  using Solver = Fgmres<DenseSpace>;

  constexpr std::size_t n = 60;

  struct Result
  {
    SolveReport report;
    DenseVector x;
  };

  template <typename Operator>
  Result solve(Operator &a, FunctionPreconditioner p, const DenseVector &b, double tolerance = 1e-9,
      int max_iterations = 200, int restart = 200)
  {
    const DenseSpace space{b.size()};
    Result result{{}, DenseVector(b.size(), 0.)};
    Solver solver(space, tolerance, max_iterations, restart);
    result.report = solver.solve(a, p, result.x, b);
    return result;
  }

  /// What every report must say, however the solve ended.
  void expect_consistent(const Result &r, const DenseOperator &a, const DenseVector &b)
  {
    ASSERT_EQ(static_cast<int>(r.report.residuals.size()), r.report.iterations + 1);
    const double residual = relative_residual(a, r.x, b);
    EXPECT_NEAR(r.report.true_relative_residual, residual, 1e-6 * residual + 1e-14);
    EXPECT_EQ(r.report.detail.empty(), r.report.converged());
  }

  TEST(Fgmres, AgreesWithDealii)
  {
    for (const double skew : {0., 0.4})
      for (const double tolerance : {1e-3, 1e-8, 1e-12})
      {
        DenseOperator a = diffusion(n, skew);
        const DenseVector b = random_dense(n, 1);
        const Result mine = solve(a, diagonal_of(a), b, tolerance);
        const DealiiResult other = dealii_fgmres(a, diagonal_of(a), b, tolerance, 200, 200);
        EXPECT_TRUE(mine.report.converged());
        EXPECT_NEAR(mine.report.iterations, other.iterations, 1);
        EXPECT_LT(relative_distance(mine.x, other.x), 1e3 * tolerance);
        EXPECT_LE(relative_residual(a, mine.x, b), 1.001 * tolerance);
        expect_consistent(mine, a, b);
        for (std::size_t i = 1; i < mine.report.residuals.size(); ++i)
          EXPECT_LE(mine.report.residuals[i], mine.report.residuals[i - 1] * (1. + 1e-14));
      }
  }

  TEST(Fgmres, PreconditionerMayChange)
  {
    DenseOperator a = diffusion(n, 0.3);
    const DenseVector b = random_dense(n, 2);
    // Jacobi with weights that differ from call to call: no fixed matrix, which GMRES would need.
    const auto changing = [&a] {
      return FunctionPreconditioner{[&a, call = 0](DenseVector &z, const DenseVector &r) mutable {
        ++call;
        for (std::size_t i = 0; i < r.size(); ++i)
          z[i] = (1. + static_cast<double>((i * 7 + call * 3) % 5)) * r[i] / a(i, i);
      }};
    };
    const Result mine = solve(a, changing(), b);
    const DealiiResult other = dealii_fgmres(a, changing(), b, 1e-9, 200, 200);
    EXPECT_TRUE(mine.report.converged());
    EXPECT_NEAR(mine.report.iterations, other.iterations, 1);
    EXPECT_LE(relative_residual(a, mine.x, b), 1e-9 * 1.001);
  }

  TEST(Fgmres, Restarts)
  {
    DenseOperator a = diffusion(n, 0.);
    for (std::size_t i = 0; i < n; ++i)
      a(i, i) += 0.2;
    const DenseVector b = random_dense(n, 3);
    const int without = solve(a, diagonal_of(a), b).report.iterations;
    for (const int restart : {3, 7, 20})
    {
      const Result mine = solve(a, diagonal_of(a), b, 1e-9, 1000, restart);
      const DealiiResult other = dealii_fgmres(a, diagonal_of(a), b, 1e-9, 1000, restart);
      EXPECT_TRUE(mine.report.converged()) << mine.report.detail;
      EXPECT_NEAR(mine.report.iterations, other.iterations, 1) << "restart " << restart;
      EXPECT_GE(mine.report.iterations, without);
      expect_consistent(mine, a, b);
      // The residual of the recursion is the true one at the start of every cycle.
      EXPECT_LE(mine.report.residuals.back(), 1e-9 * DenseSpace{n}.norm(b));
    }
  }

  TEST(Fgmres, OneObjectSolvesAgain)
  {
    DenseOperator a = diffusion(n, 0.2);
    const DenseSpace space{n};
    Solver solver(space, 1e-9, 200, 30);
    FunctionPreconditioner p = diagonal_of(a);
    DenseVector first(n, 0.), second(n, 0.), again(n, 0.);
    const SolveReport report = solver.solve(a, p, first, random_dense(n, 1));
    solver.solve(a, p, second, random_dense(n, 2));
    EXPECT_EQ(solver.solve(a, p, again, random_dense(n, 1)).residuals, report.residuals);
    EXPECT_EQ(first, again) << "bitwise";
  }

  TEST(Fgmres, FromZeroIsTheSame)
  {
    DenseOperator a = diffusion(n, 0.2);
    const DenseSpace space{n};
    FunctionPreconditioner p = diagonal_of(a);
    const DenseVector b = random_dense(n, 1);
    DenseVector x(n, 0.), told(n, 0.);
    const SolveReport report = Solver(space, 1e-9, 200, 10).solve(a, p, x, b);
    const SolveReport report_told =
        Solver(space, 1e-9, 200, 10).solve(a, p, told, b, {}, Start::zero);
    EXPECT_EQ(report.iterations, report_told.iterations);
    EXPECT_EQ(report.rhs_norm, report_told.rhs_norm);
    EXPECT_LT(relative_distance(told, x), 1e-8);
  }

  TEST(Fgmres, ExactPreconditionerAndExactStart)
  {
    DenseOperator a(n);
    for (std::size_t i = 0; i < n; ++i)
      a(i, i) = 1. + static_cast<double>(i);
    const DenseVector b = random_dense(n, 4);
    Result one = solve(a, diagonal_of(a), b, 1e-14);
    EXPECT_TRUE(one.report.converged());
    EXPECT_EQ(one.report.iterations, 1);
    // Asked for more than there is, the next directions are rounding only.
    const Result more = solve(a, diagonal_of(a), b, 0.);
    EXPECT_EQ(more.report.reason, StopReason::stagnated) << more.report.detail;
    EXPECT_LT(relative_residual(a, more.x, b), 1e-15);
    const DenseSpace space{n};
    FunctionPreconditioner p = identity();
    const SolveReport none = Solver(space, 1e-12, 10, 10).solve(a, p, one.x, b);
    EXPECT_TRUE(none.converged());
    EXPECT_EQ(none.iterations, 0);
  }

  TEST(Fgmres, SmallSpaceEndsEarly)
  {
    // Two different eigenvalues: the Krylov space ends after two steps, exactly.
    DenseOperator a(4);
    for (std::size_t i = 0; i < 4; ++i)
      a(i, i) = i < 2 ? 1. : 2.;
    const Result r = solve(a, identity(), {1., 1., 1., 1.}, 1e-15);
    EXPECT_TRUE(r.report.converged());
    EXPECT_LE(r.report.iterations, 3);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(r.x[i], i < 2 ? 1. : 0.5, 1e-15);
  }

  TEST(Fgmres, ZeroRightHandSide)
  {
    DenseOperator a = diffusion(n, 0.);
    const DenseSpace space{n};
    for (const double start : {1., std::nan("")})
    {
      DenseVector x(n, start);
      FunctionPreconditioner p = identity();
      const SolveReport report = Solver(space, 1e-8, 10, 10).solve(a, p, x, DenseVector(n, 0.));
      EXPECT_TRUE(report.converged());
      EXPECT_EQ(report.iterations, 0);
      EXPECT_EQ(report.residuals.size(), 1u);
      EXPECT_EQ(x, DenseVector(n, 0.));
    }
  }

  TEST(Fgmres, ScaleOfTheRightHandSideIsIrrelevant)
  {
    DenseOperator a = diffusion(n, 0.3);
    const Result one = solve(a, diagonal_of(a), random_dense(n, 5));
    for (const double scale : {1e-30, 1e-8, 1e8, 1e30})
    {
      DenseVector b = random_dense(n, 5);
      for (double &value : b)
        value *= scale;
      Result r = solve(a, diagonal_of(a), b);
      EXPECT_TRUE(r.report.converged()) << scale;
      EXPECT_EQ(r.report.iterations, one.report.iterations) << scale;
      expect_consistent(r, a, b);
      for (double &value : r.x)
        value /= scale;
      EXPECT_LT(relative_distance(r.x, one.x), 1e-9) << scale;
    }
  }

  TEST(Fgmres, NotFinite)
  {
    DenseOperator a = diffusion(n, 0.3);
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
        EXPECT_EQ(r.report.detail, "the preconditioner says why");
        EXPECT_EQ(r.report.iterations, at_call - 1);
        for (const double value : r.x)
          ASSERT_TRUE(std::isfinite(value)) << "what is not finite stays out of the solution";
      }
    DenseVector b = random_dense(n, 6);
    b[3] = std::nan("");
    EXPECT_EQ(solve(a, identity(), b).report.reason, StopReason::not_finite);
    b[3] = std::numeric_limits<double>::infinity();
    EXPECT_EQ(solve(a, identity(), b).report.reason, StopReason::not_finite);
    a(5, 5) = std::nan("");
    EXPECT_EQ(solve(a, identity(), random_dense(n, 6)).report.reason, StopReason::not_finite);
  }

  TEST(Fgmres, IndefinitePreconditionerIsFine)
  {
    DenseOperator a = diffusion(n, 0.);
    const DenseVector b = random_dense(n, 7);
    const Result positive = solve(a, identity(), b), negative = solve(a, scaled(-3.), b);
    EXPECT_TRUE(negative.report.converged());
    EXPECT_NEAR(negative.report.iterations, positive.report.iterations, 1);
  }

  TEST(Fgmres, StagnatesWhereNothingHelps)
  {
    DenseOperator a = diffusion(n, 0.);
    const DenseVector b = random_dense(n, 8);
    // Nothing at all; always the same direction; the residual's complement.
    const FunctionPreconditioner useless[] = {
        scaled(0.), {[](DenseVector &z, const DenseVector &r) { z.assign(r.size(), r[0]); }}};
    for (const FunctionPreconditioner &p : useless)
    {
      const Result r = solve(a, p, b, 1e-8, 1000, 20);
      EXPECT_EQ(r.report.reason, StopReason::stagnated);
      EXPECT_LE(r.report.iterations, 60);
      expect_consistent(r, a, b);
    }
  }

  TEST(Fgmres, ToleranceBelowRounding)
  {
    for (const double tolerance : {1e-17, 0.})
      for (const int restart : {30, 200})
      {
        DenseOperator a = diffusion(n, 0.3);
        const DenseVector b = random_dense(n, 9);
        const Result r = solve(a, diagonal_of(a), b, tolerance, 100000, restart);
        EXPECT_EQ(r.report.reason, StopReason::stagnated);
        EXPECT_LT(r.report.true_relative_residual, 1e-14);
        EXPECT_LT(r.report.iterations, 1000);
        expect_consistent(r, a, b);
      }
  }

  TEST(Fgmres, IterationLimit)
  {
    DenseOperator a = diffusion(n, 0.);
    const DenseVector b = random_dense(n, 10);
    for (const int limit : {0, 1, 5, 12})
      for (const int restart : {5, 200})
      {
        const Result r = solve(a, identity(), b, 1e-12, limit, restart);
        EXPECT_EQ(r.report.reason, StopReason::iteration_limit) << r.report.detail;
        EXPECT_EQ(r.report.iterations, limit);
        expect_consistent(r, a, b);
      }
    // A shift of the entries: no progress before step n, yet the limit and not stagnation ends
    // this.
    DenseOperator shift(n);
    for (std::size_t i = 0; i < n; ++i)
      shift(i, (i + 1) % n) = 1.;
    DenseVector unit(n, 0.);
    unit[0] = 1.;
    EXPECT_EQ(solve(shift, identity(), unit, 1e-12, 10).report.reason, StopReason::iteration_limit);
    const Result full = solve(shift, identity(), unit, 1e-12, 100);
    EXPECT_TRUE(full.report.converged());
    EXPECT_EQ(full.report.iterations, static_cast<int>(n));
    // With restarts before that step it can never end.
    EXPECT_EQ(solve(shift, identity(), unit, 1e-12, 1000, 20).report.reason, StopReason::stagnated);
  }

  TEST(Fgmres, InterruptEndsItAsTheLimitDoes)
  {
    DenseOperator a = diffusion(n, 0.);
    const DenseVector b = random_dense(n, 10);
    const DenseSpace space{n};
    Result r{{}, DenseVector(n, 0.)};
    FunctionPreconditioner p = identity();
    int last = 0;
    r.report = Solver(space, 1e-12, 300, 4)
                   .solve(
                       a, p, r.x, b, [&](int k, double) { last = k; }, Start::given,
                       [&] { return last >= 6; });
    EXPECT_EQ(r.report.reason, StopReason::iteration_limit);
    EXPECT_EQ(r.report.iterations, 6);
    EXPECT_LT(r.report.true_relative_residual, 1.);
    expect_consistent(r, a, b);
  }

  /// Its products are those of another matrix than its residuals: what is true is the residual.
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

  TEST(Fgmres, BelievesTheTrueResidualOnly)
  {
    const DenseOperator a = diffusion(n, 0.3);
    const DenseVector b = random_dense(n, 11);
    // A harmless lie costs another cycle; the answer is right for the true operator.
    LyingOperator slightly(a, 1.001);
    const Result r = solve(slightly, diagonal_of(a), b);
    EXPECT_TRUE(r.report.converged());
    EXPECT_LE(relative_residual(a, r.x, b), 1e-9 * 1.001);
    EXPECT_NEAR(r.report.true_relative_residual, relative_residual(a, r.x, b), 1e-12);
    DenseOperator honest = a;
    EXPECT_GT(r.report.iterations, solve(honest, diagonal_of(a), b).report.iterations);
    // A large one makes the recursion converge and the residual grow.
    LyingOperator grossly(a, -1.);
    const Result wrong = solve(grossly, diagonal_of(a), b);
    EXPECT_EQ(wrong.report.reason, StopReason::stagnated);
    EXPECT_GT(wrong.report.true_relative_residual, 1.);
    EXPECT_LT(wrong.report.residuals.back() / wrong.report.residuals.front(), 1e-8);
  }

  TEST(Fgmres, CallbackSeesEveryResidual)
  {
    DenseOperator a = diffusion(n, 0.3);
    const DenseVector b = random_dense(n, 12);
    const DenseSpace space{n};
    DenseVector x(n, 0.);
    FunctionPreconditioner p = diagonal_of(a);
    std::vector<int> numbers;
    std::vector<double> residuals;
    const SolveReport report =
        Solver(space, 1e-9, 200, 10).solve(a, p, x, b, [&](int k, double relative) {
          numbers.push_back(k);
          residuals.push_back(relative * space.norm(b));
        });
    ASSERT_EQ(residuals.size(), report.residuals.size());
    for (std::size_t k = 0; k < residuals.size(); ++k)
    {
      EXPECT_EQ(numbers[k], static_cast<int>(k));
      EXPECT_NEAR(residuals[k], report.residuals[k], 1e-15 * report.residuals[0]);
    }
    EXPECT_NEAR(report.mean_reduction(),
        std::pow(report.residuals.back() / report.residuals.front(), 1. / report.iterations),
        1e-12);
  }

  /// Counts how often a vector meets the basis.
  struct CountingSpace : DenseSpace
  {
    mutable int passes = 0;
    std::vector<double> multi_dot(
        const std::vector<DenseVector> &v, int count, const DenseVector &w) const
    {
      ++passes;
      return DenseSpace::multi_dot(v, count, w);
    }
  };

  TEST(Fgmres, OrthogonalisesTwiceOnlyAfterCancellation)
  {
    DenseOperator usual = diffusion(n, 0.3), near_identity = usual;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        near_identity(i, j) = (i == j ? 1. : 0.) + 1e-6 * usual(i, j);
    const DenseVector b = random_dense(n, 11);
    for (const int passes : {1, 2})
    {
      CountingSpace space;
      space.size = n;
      DenseVector x(n, 0.);
      FunctionPreconditioner p = passes == 1 ? diagonal_of(usual) : identity();
      const SolveReport report = Fgmres<CountingSpace>(space, 1e-9, 200, 200)
                                     .solve(passes == 1 ? usual : near_identity, p, x, b);
      EXPECT_TRUE(report.converged()) << report.detail;
      EXPECT_EQ(space.passes, passes * report.iterations);
    }
  }

  TEST(Fgmres, MessagesHaveReadableNumbers)
  {
    DenseOperator a = diffusion(n, 0.3);
    const Result r = solve(a, diagonal_of(a), random_dense(n, 9), 1e-17, 1000, 200);
    EXPECT_NE(r.report.detail.find("e-1"), std::string::npos) << r.report.detail;
    EXPECT_EQ(r.report.detail.find("0.000000"), std::string::npos) << r.report.detail;
  }
} // namespace
} // namespace tensormg
