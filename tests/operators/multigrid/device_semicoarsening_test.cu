// Boxes of stretched cells in device memory: iterations and solutions as in host memory, for each precision, smoother and boundary.
#include <gtest/gtest.h>

#include "tests/support/device/multigrid_solve.h"
#include "tests/support/few_cases.h"

namespace tensormg
{
namespace
{
  using Solve = test::DeviceSolve;
  using test::stretched;
  using test::with;

  class DeviceSemicoarsening : public testing::Test
  {
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
  };

  /// Few cases: one of so many.
  bool is_left_out(int turn, int of) { return test::has_few_cases() && turn % of != 0; }

  TEST_F(DeviceSemicoarsening, AsInHostMemory)
  {
    const std::array<double, 3> boxes[] = {
        {1., 1., 0.05}, {0.02, 1., 0.1}, {1., 0.02, 0.02}, {1., 0.1, 0.01}, {1., 5., 1.}};
    int turn = 0;
    for (const auto &lengths : boxes)
      for (const char *boundary : {"DD", "NN", "DDDDNN", "PPNNDD", "DNPPND"})
        for (const Precision precision :
            {Precision::double_precision, Precision::single_precision, Precision::half_precision})
        {
          if (is_left_out(turn++, 13))
            continue;
          SCOPED_TRACE(testing::Message()
              << lengths[0] << " x " << lengths[1] << " x " << lengths[2] << ' ' << boundary << ' '
              << to_string(precision));
          Solve(stretched(3, 1 + turn % 4, 2, lengths, boundary)).compare(with(precision));
          Solve(stretched(2, 1 + turn % 8, 3, lengths, boundary)).compare(with(precision));
        }
  }

  TEST_F(DeviceSemicoarsening, SmoothersAndOddNumbersOfCells)
  {
    int turn = 0;
    for (const char *boundary : {"DDDDNN", "NNPPDN"})
      for (const Smoother smoother : {Smoother::jacobi, Smoother::patch})
      {
        if (is_left_out(turn++, 2))
          continue;
        SCOPED_TRACE(testing::Message() << boundary << ' ' << static_cast<int>(smoother));
        MultigridOptions options = with(Precision::single_precision);
        options.smoother = smoother;
        options.degree = smoother == Smoother::patch ? 1 : 4;
        Solve(stretched(3, 2, 2, {1., 0.7, 0.03}, boundary)).compare(options);
        Solve(stretched(2, 3, 2, {1., 0.03, 1.}, boundary, {1, 3, 1})).compare(options);
      }
    Solve(stretched(3, 3, 1, {1., 0.7, 0.03}, "DDDDNN", {2, 1, 3}))
        .compare(with(Precision::half_precision));
  }

  // Device memory ends the hierarchy where lines have at most 64 unknowns (few cases: 8); levels above that are exact in z here.
  TEST_F(DeviceSemicoarsening, AsProgramsRunIt)
  {
    for (const char *boundary : {"DDDDNN", "DD", "PPDDNN"})
    {
      const bool few = test::has_few_cases();
      Solve solve(stretched(3, 3, few ? 2 : 5, {1., 1., 0.01}, boundary));
      const auto multigrid =
          make_multigrid(solve.grid, solve.basis, solve.backend, with(Precision::half_precision),
              solve.stream.get(), {.longest_direct_line = few ? 8 : 64});
      const SolveReport report = solve.short_basis(*multigrid);
      EXPECT_TRUE(report.converged()) << report.detail;
      EXPECT_LE(report.iterations, 8);
      if (test::has_few_cases())
        break;
    }
  }
} // namespace
} // namespace tensormg
