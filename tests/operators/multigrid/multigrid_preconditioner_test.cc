// The preconditioner as the programs use it: iteration counts that depend neither on the mesh nor
// on the precision, any size of the right-hand side, the same bits twice.
// ranks: 1 2
#include "operators/multigrid/multigrid_preconditioner.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "operators/data/errors.h"
#include "operators/data/right_hand_side.h"
#include "tests/support/multigrid_solve.h"
#include "tests/support/sanitized.h"

namespace tensormg
{
namespace
{
  using test::Solve;

  constexpr Precision precisions[] = {
      Precision::double_precision, Precision::single_precision, Precision::half_precision};

  MultigridOptions with(Precision precision)
  {
    MultigridOptions options;
    options.precision = precision;
    return options;
  }

  class Iterations : public testing::TestWithParam<int>
  {};
  INSTANTIATE_TEST_SUITE_P(Degree, Iterations, testing::Range(1, max_degree + 1));

  TEST_P(Iterations, DependNeitherOnTheMeshNorOnThePrecision)
  {
    const int degree = GetParam();
    const int limit = degree <= 5 ? 7 : 8;
    for (int dim = 2; dim <= 3; ++dim)
      for (const char *boundary : {"DD", "NN", "PPDDNN"})
      {
        if (test::is_sanitized && boundary[0] != 'P') // which has all kinds
          continue;
        std::vector<int> counts;
        const int finest = (dim == 2 ? 5 : degree <= 3 ? 4 : 3) - (test::is_sanitized ? 1 : 0);
        for (int refinements = 2; refinements <= finest; ++refinements)
        {
          Solve solve(test::cubes(dim, degree, {1, 1, 1}, refinements, boundary));
          for (const Precision precision : precisions)
          {
            SCOPED_TRACE(testing::Message()
                << "dim " << dim << ", refinements " << refinements << ", " << boundary
                << ", precision " << static_cast<int>(precision));
            const SolveReport report = solve.fgmres(with(precision));
            EXPECT_TRUE(report.converged()) << report.detail;
            EXPECT_LE(report.iterations, limit);
            counts.push_back(report.iterations);
          }
        }
        const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
        EXPECT_LE(*most - *least, 1) << "dim " << dim << ", " << boundary;
      }
  }

  TEST(MultigridPreconditioner, BasisInSinglePrecisionTakesNoMoreIterations)
  {
    for (const int dim : {2, 3})
      for (const char *boundary : {"DD", "NN"})
        for (const double size : {0., 1.}) // all frequencies, or f = 1
        {
          if (test::is_sanitized && (size > 0.) == (boundary[0] == 'D'))
            continue;
          Solve solve(test::cubes(dim, 3, {1, 1, 1}, dim == 2 ? 5 : 3, boundary));
          if (size > 0. && !solve.problem.is_singular())
            solve.smooth_right_hand_side(size);
          for (const Precision precision : precisions)
            for (const double tolerance : {1e-6, 1e-8, 1e-12})
            {
              SCOPED_TRACE(testing::Message()
                  << "dim " << dim << ' ' << boundary << ", size " << size << ", precision "
                  << static_cast<int>(precision) << ' ' << tolerance);
              Fgmres<VectorSpace> method(solve.space, tolerance, 60, 15);
              const int expected =
                  solve.run(method, solve.op, with(precision), false, tolerance).iterations;
              const SolveReport report = solve.short_basis(with(precision), tolerance);
              EXPECT_TRUE(report.converged()) << report.detail;
              EXPECT_LE(report.iterations, expected + 1);
            }
        }
    Solve solve(test::cubes(3, 2, {1, 1, 1}, 3, "DD"));
    EXPECT_LE(solve.short_basis(with(Precision::half_precision), 1e-8, true).iterations,
        solve.fgmres(with(Precision::half_precision), true).iterations + 1);
  }

  TEST(MultigridPreconditioner, ServesConjugateGradients)
  {
    for (const int degree : {1, 3, 6})
    {
      Solve solve(test::cubes(3, degree, {1, 1, 1}, 3, "DN"));
      for (const Precision precision : precisions)
      {
        const SolveReport report = solve.cg(with(precision));
        EXPECT_TRUE(report.converged()) << report.detail;
        EXPECT_LE(report.iterations, solve.fgmres(with(precision)).iterations + 1);
        if (precision == Precision::double_precision)
          continue;
        const SolveReport with_short_vectors = solve.short_cg(with(precision));
        EXPECT_TRUE(with_short_vectors.converged()) << with_short_vectors.detail;
        EXPECT_LE(with_short_vectors.iterations, report.iterations + 1);
        EXPECT_LE(with_short_vectors.true_relative_residual, 1e-8);
      }
    }
    Solve solve(test::cubes(3, 3, {1, 1, 1}, 3, "DN"));
    const SolveReport all_digits = solve.short_cg(with(Precision::half_precision), 1e-13);
    EXPECT_TRUE(all_digits.converged()) << all_digits.detail;
  }

  TEST(MultigridPreconditioner, OtherCyclesAndSmoothers)
  {
    Solve solve(test::cubes(3, 3, {1, 1, 1}, 3, "DDNDPP"));
    const int v = solve.fgmres(with(Precision::single_precision)).iterations;
    for (const Precision precision : precisions)
    {
      SCOPED_TRACE(static_cast<int>(precision));
      MultigridOptions options = with(precision);
      options.cycle = Cycle::w;
      EXPECT_LE(solve.fgmres(options).iterations, v);
      options = with(precision);
      options.chebyshev_kind = ChebyshevKind::first;
      EXPECT_LE(solve.fgmres(options).iterations, v + 1);
      options.smoother = Smoother::jacobi;
      const SolveReport jacobi = solve.fgmres(options);
      EXPECT_TRUE(jacobi.converged());
      EXPECT_LE(jacobi.iterations, 14);
      EXPECT_GT(jacobi.iterations, v);
      options.damping = 1.9; // beyond 2 / lambda_max: amplifies
      const SolveReport wild = solve.fgmres(options);
      EXPECT_TRUE(!wild.converged() || wild.iterations > jacobi.iterations);
    }
    MultigridOptions more;
    more.degree = 6;
    EXPECT_LT(solve.fgmres(more).iterations, v);
    more.degree = 2;
    EXPECT_GT(solve.fgmres(more).iterations, v);
  }

  TEST(MultigridPreconditioner, FullMultigridStart)
  {
    for (const Precision precision : precisions)
    {
      SCOPED_TRACE(static_cast<int>(precision));
      Solve solve(test::cubes(2, 3, {1, 1, 1}, 6, "DD"));
      solve.smooth_right_hand_side(1.);
      const SolveReport without = solve.fgmres(with(precision));
      const SolveReport started = solve.fgmres(with(precision), true);
      EXPECT_TRUE(started.converged());
      EXPECT_LT(started.iterations, without.iterations);
      EXPECT_LT(started.residuals.front(), 0.02 * without.residuals.front());
    }
  }

  // The error of the discretisation is 1e-9 in the finest of these, far below what numbers of 16 bits hold.
  TEST(MultigridPreconditioner, FullMultigridReachesTheErrorOfTheDiscretisation)
  {
    for (const int dim : {2, 3})
      for (const int degree : {1, 2, 3, 4})
      {
        Problem problem = test::cubes(dim, degree, {1, 1, 1}, dim == 2 ? 6 : 4, "DD");
        problem.constants = {{"c", problem.coefficient * dim * std::pow(std::numbers::pi, 2)}};
        problem.exact_solution = "sin(pi*x)*sin(pi*y)";
        if (dim == 3)
          problem.exact_solution += "*sin(pi*z)";
        problem.right_hand_side = "c*" + problem.exact_solution;
        Solve solve(problem);
        assemble_right_hand_side(problem, solve.level, solve.basis, solve.b);
        const auto error = [&] {
          return compute_errors(problem, solve.level, solve.basis, solve.x).l2;
        };
        solve.run(
            Fgmres<VectorSpace>(solve.space, 1e-11, 40, 30), with(Precision::double_precision));
        const double converged = error();
        for (const Precision precision : precisions)
        {
          solve.make(with(precision))->full_start(solve.x, solve.b, 2);
          EXPECT_LT(error(), 1.05 * converged) << "dim " << dim << " degree " << degree
                                               << " precision " << static_cast<int>(precision);
        }
      }
  }

  TEST(MultigridPreconditioner, SizeOfTheRightHandSideIsIrrelevant)
  {
    for (const bool smooth : {false, true})
      for (const Precision precision : precisions)
      {
        Solve solve(test::cubes(2, 3, {1, 1, 1}, 5, "DD"));
        const Vector<double> random = test::hashed_vector<double>(solve.level, 1);
        int expected = 0;
        for (const double size : {1., 1e-30, 1e-8, 1e8, 1e30})
        {
          if (smooth)
            solve.smooth_right_hand_side(size);
          else
            solve.space.axpby(size, random, 0., solve.b);
          const SolveReport report = solve.fgmres(with(precision));
          EXPECT_TRUE(report.converged()) << report.detail << ", size " << size;
          expected = size == 1. ? report.iterations : expected;
          // In binary16 the rounding depends on the leading digits.
          EXPECT_NEAR(report.iterations, expected, 1) << "size " << size;
        }
      }
  }

  TEST(MultigridPreconditioner, HalfTakesTheIterationsOfSingle)
  {
    // A smooth correction is 512^2 / 30 times larger than its residual, so that rounding it to binary16 once
    // anywhere in a cycle leaves more than the residual.
    Solve solve(test::cubes(2, 3, {1, 1, 1}, test::is_sanitized ? 7 : 9, "DD"));
    solve.smooth_right_hand_side(1.);
    const SolveReport half = solve.fgmres(with(Precision::half_precision)),
                      single = solve.fgmres(with(Precision::single_precision));
    EXPECT_TRUE(half.converged()) << half.detail;
    EXPECT_EQ(half.iterations, single.iterations);
    ASSERT_GE(half.residuals.size(), 2U);
    EXPECT_LT(half.residuals[1], 1.2 * single.residuals[1]);
  }

  TEST(MultigridPreconditioner, HalfStaysFiniteOnFineMeshes)
  {
    // The largest correction relative to the residual: smooth, fine mesh, weakest boundary.
    for (const char *boundary : {"DNNN", "DDPP", "NN"})
    {
      Solve solve(test::cubes(2, 2, {1, 1, 1}, 8, boundary));
      if (!solve.problem.is_singular())
        solve.smooth_right_hand_side(1.);
      const SolveReport half = solve.fgmres(with(Precision::half_precision));
      EXPECT_TRUE(half.converged()) << half.detail;
      EXPECT_LE(half.iterations, solve.fgmres(with(Precision::double_precision)).iterations + 1);
      EXPECT_LE(solve.fgmres(with(Precision::single_precision)).iterations, 7);
    }
  }

  TEST(MultigridPreconditioner, SameBitsTwice)
  {
    for (const Precision precision : precisions)
    {
      Solve solve(test::box(3, 2, {3, 5, 4}, 2, "DNPPND"));
      const SolveReport first = solve.fgmres(with(precision));
      Vector<double> x = solve.space.make_vector();
      solve.space.axpby(1., solve.x, 0., x);
      const SolveReport second = solve.fgmres(with(precision));
      EXPECT_EQ(first.residuals, second.residuals);
      EXPECT_EQ(std::memcmp(x.data(), solve.x.data(), x.size() * sizeof(double)), 0);
    }
  }

  TEST(MultigridPreconditioner, IsSymmetric)
  {
    for (const Precision precision : precisions)
    {
      const double tolerance = precision == Precision::double_precision ? 1e-12
          : precision == Precision::single_precision                    ? 1e-5
                                                                        : 5e-3;
      Solve solve(test::box(3, 3, {2, 3, 2}, 2, "DNPPND"));
      const auto multigrid = solve.make(with(precision));
      const auto r = test::hashed_vector<double>(solve.level, 1),
                 s = test::hashed_vector<double>(solve.level, 2);
      Vector<double> vr = solve.space.make_vector(), vs = solve.space.make_vector();
      multigrid->apply(vr, r, solve.space.norm(r));
      multigrid->apply(vs, s, solve.space.norm(s));
      const double size = solve.space.dot(vr, r);
      EXPECT_GT(size, 0.);
      EXPECT_NEAR(solve.space.dot(vr, s), solve.space.dot(r, vs), tolerance * size);
    }
  }

  TEST(MultigridPreconditioner, ZeroAndNotFinite)
  {
    for (const Precision precision : precisions)
    {
      Solve solve(test::cubes(3, 2, {1, 1, 1}, 3, "DD"));
      const auto multigrid = solve.make(with(precision));
      Vector<double> z = solve.space.make_vector(), r = solve.space.make_vector();
      test::poison(z);
      multigrid->apply(z, r, 0.);
      EXPECT_EQ(solve.space.max_abs(z), 0.);
      EXPECT_EQ(multigrid->diagnose().find("all multigrid levels are finite"), 0u);
      for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
      {
        const auto good = test::hashed_vector<double>(solve.level, 1);
        solve.space.axpby(1., good, 0., r);
        test::for_each_global(solve.level, [&](std::int64_t at, std::int64_t number) {
          if (number == 77)
            r[at] = bad;
        });
        multigrid->apply(z, r, solve.space.norm(r));
        EXPECT_FALSE(std::isfinite(solve.space.max_abs(z)));
        EXPECT_EQ(multigrid->diagnose().find("NaN or Inf in the "), 0u) << multigrid->diagnose();
        // It recovers: the next cycle starts from zero.
        multigrid->apply(z, good, solve.space.norm(good));
        EXPECT_TRUE(std::isfinite(solve.space.max_abs(z)));
      }
    }
  }

  TEST(MultigridPreconditioner, ReportsItsSpectrumAndMemory)
  {
    Solve solve(test::cubes(3, 3, {1, 1, 1}, 4, "DD"));
    const double lambda = solve.make(MultigridOptions())->lambda_max();
    EXPECT_GT(lambda, 2.) << "the end of the spectrum";
    EXPECT_LT(lambda, 2.1);
    std::int64_t stored = 0;
    for (const LevelGrid &level : solve.grid.levels)
      stored += level.block.size();
    const std::int64_t half =
        multigrid_bytes<HostContext>(solve.grid, with(Precision::half_precision));
    const std::int64_t split = 2 * 2 * (stored - solve.grid.levels.front().block.size());
    EXPECT_GE(half, 3 * 2 * stored + split) << "five vectors on each level but the coarsest";
    EXPECT_EQ(multigrid_bytes<HostContext>(solve.grid, with(Precision::double_precision)) - half,
        3 * 6 * stored - split);
  }

  TEST(MultigridPreconditioner, HasNoArithmeticOfTensorCoresInHostMemory)
  {
    Solve solve(test::cubes(2, 1, {1, 1, 1}, 1, "DD"));
    for (const Precision precision :
        {Precision::tf32_precision, Precision::corrected_half_precision})
      EXPECT_THROW(solve.make(with(precision)), std::invalid_argument);
  }
} // namespace
} // namespace tensormg
