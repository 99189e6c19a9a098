// A cycle whose levels leave the range of their numbers says which one did; levels in single below those in half.
// ranks: 1 2
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "operators/multigrid/multigrid_preconditioner.h"
#include "tests/support/multigrid_solve.h"

namespace tensormg
{
namespace
{
  using test::Solve;

  MultigridOptions with(Precision precision)
  {
    MultigridOptions options;
    options.precision = precision;
    return options;
  }

  // One large entry among zeros: in 3D a level makes it eight times smaller, so the coarsest of five gets numbers of half
  // precision with few digits. In single there are enough of them.
  TEST(LevelPrecision, SaysOnWhichLevelNumbersUnderflow)
  {
    Solve solve(test::cubes(3, 1, {1, 1, 1}, 5, "DD"));
    auto r = solve.space.make_vector();
    test::for_each_global(
        solve.level, [&](std::int64_t at, std::int64_t number) { r[at] = number == 77 ? 1. : 0.; });
    auto z = solve.space.make_vector();
    MultigridOptions options = with(Precision::half_precision);
    const auto broken_level = [&] {
      const auto multigrid = solve.make(options);
      multigrid->apply(z, r, solve.space.norm(r));
      const std::string text = multigrid->diagnose();
      EXPECT_EQ(text.find("all multigrid levels are finite"), 0u) << text;
      const auto level = multigrid->broken_level();
      const std::size_t underflow = text.find("; underflow to at most ");
      EXPECT_EQ(underflow != text.npos, level.has_value()) << text;
      if (level)
      {
        EXPECT_NE(text.find("in the residual of multigrid level " + std::to_string(*level) + " ("),
            text.npos)
            << text;
      }
      return level;
    };
    const auto in_half = broken_level();
    ASSERT_TRUE(in_half);
    EXPECT_LT(*in_half, 5u);
    options.single_levels = static_cast<int>(*in_half) + 1;
    EXPECT_FALSE(broken_level());
    options = with(Precision::single_precision);
    EXPECT_FALSE(broken_level());
  }

  // Levels in single below those in half: what half rounds there is gone, all else stays.
  TEST(LevelPrecision, LevelsInSingle)
  {
    for (const int dim : {2, 3})
      for (const Cycle cycle : {Cycle::v, Cycle::w})
      {
        Solve solve(test::cubes(dim, 3, {1, 1, 1}, dim == 2 ? 5 : 3, "DDDDPP"));
        const auto levels = solve.grid.levels.size();
        const auto r = test::hashed_vector<double>(solve.level, 1);
        const double norm = solve.space.norm(r);
        MultigridOptions options = with(Precision::single_precision);
        options.cycle = cycle;
        auto exact = solve.space.make_vector(), z = solve.space.make_vector();
        solve.make(options)->apply(exact, r, norm);
        options.precision = Precision::half_precision;
        const int iterations = solve.fgmres(options).iterations;
        std::vector<int> visits;
        for (std::size_t count = 0; count < levels; ++count)
        {
          SCOPED_TRACE(testing::Message() << dim << "D, levels in single " << count);
          options.single_levels = static_cast<int>(count);
          const auto multigrid = solve.make(options);
          multigrid->apply(z, r, norm);
          EXPECT_LT(test::relative_difference(z, exact), 5e-3);
          EXPECT_GT(test::relative_difference(z, exact), 1e-6); // the finest level is in half
          const auto times = multigrid->times();
          ASSERT_EQ(times.size(), levels);
          std::vector<int> found;
          for (const LevelTimes &level : times)
          {
            found.push_back(level.visits);
            EXPECT_GT(level.total(), 0.);
          }
          if (count == 0)
            visits = found;
          EXPECT_EQ(found, visits);
          const SolveReport report = solve.fgmres(options, count == 1);
          EXPECT_TRUE(report.converged()) << report.detail;
          EXPECT_LE(report.iterations, iterations + 1);
        }
      }
    Solve solve(test::cubes(3, 3, {1, 1, 1}, 4, "DD"));
    MultigridOptions options = with(Precision::half_precision);
    const std::int64_t half = multigrid_bytes<HostContext>(solve.grid, options);
    options.single_levels = 4;
    const std::int64_t mixed = multigrid_bytes<HostContext>(solve.grid, options);
    EXPECT_GT(mixed, half);
    EXPECT_LT(mixed, multigrid_bytes<HostContext>(solve.grid, with(Precision::double_precision)));
  }

  // A level that enlarges rough errors leaves the range of half on those below it first: each has the residual of the
  // one above it for its right-hand side.
  TEST(LevelPrecision, SaysWhichLevelLeftItsRange)
  {
    Solve solve(test::cubes(2, 2, {1, 1, 1}, 5, "DD"));
    const auto r = test::hashed_vector<double>(solve.level, 1);
    auto z = solve.space.make_vector();
    MultigridOptions options = with(Precision::half_precision);
    options.smoother = Smoother::jacobi;
    options.degree = 1;
    std::size_t before = 0;
    for (const double damping : {30., 1000., 1e6})
    {
      SCOPED_TRACE(damping);
      options.damping = damping;
      const auto multigrid = solve.make(options);
      multigrid->apply(z, r, solve.space.norm(r));
      const auto level = multigrid->broken_level();
      ASSERT_TRUE(level) << multigrid->diagnose();
      EXPECT_GT(*level, before);
      before = *level;
      EXPECT_NE(multigrid->diagnose().find(
                    "NaN or Inf in the residual of multigrid level " + std::to_string(*level)),
          std::string::npos)
          << multigrid->diagnose();
    }
    EXPECT_EQ(before, 5u);
  }
} // namespace
} // namespace tensormg
