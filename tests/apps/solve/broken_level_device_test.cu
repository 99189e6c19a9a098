// A multigrid level whose operator in device memory is wrong: the run names it and ends with the exit code for that, or finds
// the right solution all the same.
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/broken_level.h"

namespace tensormg
{
namespace
{
  class BrokenLevelOnDevice : public testing::Test
  {
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }

  protected:
    const test::TemporaryDirectory directory_;
    Parameters parameters_ = test::problem_with_levels(directory_);
  };

  // Level 1 has 64 unknowns in every direction: there the device solves directly.
  TEST_F(BrokenLevelOnDevice, IsNamed)
  {
    using enum Precision;
    for (const auto &[backend, precision] :
        {std::pair{"cuda", double_precision}, {"cuda", single_precision}, {"mma", half_precision}})
      for (const std::size_t level : {1, 2})
      {
        SCOPED_TRACE(testing::Message() << backend << ' ' << to_string(precision));
        parameters_.backend = backend;
        parameters_.solver.multigrid.precision = precision;
        test::expect_named(
            test::solve_with_broken_level(parameters_, level, test::no_number), level);
      }
  }

  TEST_F(BrokenLevelOnDevice, WithWrongNumbersCostsIterationsOnly)
  {
    parameters_.backend = "cpu";
    const RunRecord right = test::solve_with_broken_level(parameters_, 2, 1.);
    EXPECT_TRUE(right.report.converged());
    parameters_.backend = "cuda";
    parameters_.solver.multigrid.precision = Precision::half_precision;
    const RunRecord record = test::solve_with_broken_level(parameters_, 2, 100.);
    EXPECT_TRUE(record.report.converged()) << record.report.detail;
    EXPECT_GT(record.report.iterations, 2 * right.report.iterations);
    EXPECT_NEAR(*record.l2_error, *right.l2_error, 1e-3 * *right.l2_error);
  }
} // namespace
} // namespace tensormg
