// A multigrid level whose operator is wrong: the run names it and ends with the exit code for that, or finds the right
// solution all the same.
#include <string>

#include <gtest/gtest.h>

#include "operators/multigrid/eigenvalue_estimate.h"
#include "tests/support/broken_level.h"

namespace tensormg
{
namespace
{
  class BrokenLevel : public testing::Test
  {
  protected:
    const test::TemporaryDirectory directory_;
    Parameters parameters_ = test::problem_with_levels(directory_);
    MultigridOptions &multigrid_ = parameters_.solver.multigrid;
  };

  TEST_F(BrokenLevel, IsNamed)
  {
    for (const OuterSolver solver : {OuterSolver::fgmres, OuterSolver::cg})
      for (const Precision precision :
          {Precision::double_precision, Precision::single_precision, Precision::half_precision})
        for (const std::size_t level : {1, 2})
        {
          parameters_.solver.solver = solver;
          multigrid_.precision = precision;
          test::expect_named(
              test::solve_with_broken_level(parameters_, level, test::no_number), level);
        }
  }

  // The level from which the smoother has its eigenvalue estimate ends the run before it begins.
  TEST_F(BrokenLevel, IsNamedByTheEigenvalueEstimate)
  {
    try
    {
      test::solve_with_broken_level(parameters_, 0, test::no_number);
      FAIL();
    }
    catch (const EigenvalueError &error)
    {
      EXPECT_NE(std::string(error.what()).find("multigrid level 0 (0 is the coarsest of 4)"),
          std::string::npos)
          << error.what();
    }
  }

  // Other numbers do not help: all attempts say so, and no solution is claimed.
  TEST_F(BrokenLevel, IsNamedByEveryAttemptInSingle)
  {
    multigrid_.precision = Precision::half_precision;
    multigrid_.precision_fallback = true;
    const RunRecord record = test::solve_with_broken_level(parameters_, 2, test::no_number);
    test::expect_named(record, 2);
    EXPECT_EQ(record.precision, Precision::single_precision);
    const std::string &attempts = record.report.precision_fallback;
    EXPECT_NE(attempts.find("; then "), std::string::npos) << attempts;
    EXPECT_NE(attempts.find("level 2"), std::string::npos) << attempts;
  }

  // The outer method works with the operator of the mesh: a cycle that is of another one takes more iterations.
  TEST_F(BrokenLevel, WithWrongNumbersCostsIterationsOnly)
  {
    const RunRecord right = test::solve_with_broken_level(parameters_, 2, 1.);
    EXPECT_TRUE(right.report.converged());
    for (const Precision precision : {Precision::double_precision, Precision::half_precision})
      for (const double factor : {0.01, 100.})
      {
        multigrid_.precision = precision;
        const RunRecord record = test::solve_with_broken_level(parameters_, 2, factor);
        EXPECT_TRUE(record.report.converged()) << record.report.detail;
        EXPECT_GT(record.report.iterations, 2 * right.report.iterations);
        EXPECT_NEAR(*record.l2_error, *right.l2_error, 1e-3 * *right.l2_error);
      }
  }
} // namespace
} // namespace tensormg
