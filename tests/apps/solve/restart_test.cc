// Runs that begin where another one has ended: on the same grid and ranks, and on others.
// ranks: 1 2 4
#include <cmath>

#include <gtest/gtest.h>

#include "apps/solve/solve.h"
#include "operators/data/npy_array.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  namespace fs = std::filesystem;

  class Restart : public testing::Test
  {
  protected:
    /// Of a problem of all kinds of sides, in the directory `name`.
    RunRecord run(const std::string &name, const std::vector<std::string> &overrides,
        MPI_Comm communicator = MPI_COMM_WORLD)
    {
      std::vector<std::string> all{"problem.dimension=3", "problem.refinements=1",
          "problem.coarse_cells=3,4,2", "problem.degree=2", "problem.upper=1,2,0.5",
          "problem.right_hand_side=1+x*y", "boundary.left=neumann", "boundary.left_value=y",
          "boundary.right_value=sin(y)", "boundary.front=periodic", "boundary.back=periodic",
          "output.directory=" + (directory_ / name).string(), "output.write_npy=true"};
      all.insert(all.end(), overrides.begin(), overrides.end());
      screen_.str("");
      Console console(communicator, Verbosity::normal, screen_, screen_);
      const RunRecord record = run_solve(default_parameters(all), communicator, console);
      MPI_Barrier(MPI_COMM_WORLD);
      return record;
    }
    std::string from(const std::string &path) const
    {
      return "problem.fields=T0 = " + (directory_ / path).string();
    }

    const test::TemporaryDirectory directory_{MPI_COMM_WORLD};
    std::ostringstream screen_;
  };

  TEST_F(Restart, ContinuesWithoutIterations)
  {
    const RunRecord first = run("a", {});
    EXPECT_GT(first.report.iterations, 2);
    const RunRecord second = run("b", {from("a/solution.json"), "problem.initial_guess=T0"});
    EXPECT_TRUE(second.report.converged());
    EXPECT_LE(second.report.iterations, 1);
    EXPECT_LE(second.report.residuals.front() / second.rhs_norm, second.tolerance * 1.0001);
    EXPECT_NEAR(second.report.residuals.front() / first.report.residuals.back(), 1., 1e-3);
  }

  TEST_F(Restart, OnOtherNumbersOfRanks)
  {
    run("a", {});
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const std::string own = "b" + std::to_string(rank);
    const RunRecord alone =
        run(own, {from("a/solution.json"), "problem.initial_guess=T0"}, MPI_COMM_SELF);
    EXPECT_EQ(alone.report.iterations, 0);
    const RunRecord all = run("c", {from("b0/solution.json"), "problem.initial_guess=T0"});
    EXPECT_EQ(all.report.iterations, 0);
  }

  TEST_F(Restart, OnOtherGridsAndDegrees)
  {
    run("a", {"solver.tolerance=1e-10"});
    for (const std::string other : {"problem.degree=4", "problem.refinements=2",
             "problem.coarse_cells=5,3,3", "problem.degree=1"})
    {
      SCOPED_TRACE(other);
      const RunRecord cold = run("b", {other});
      const RunRecord warm = run("c", {other, from("a/solution.json"), "problem.initial_guess=T0"});
      EXPECT_TRUE(warm.report.converged());
      EXPECT_LE(warm.report.iterations, cold.report.iterations);
      // With a larger space the guess is its function exactly.
      const RunRecord same = run("d", {other, from("c/solution.json"), "problem.initial_guess=T0"});
      EXPECT_EQ(same.report.iterations, 0);
    }
  }

  TEST_F(Restart, TheFileIsTheExactSolutionOfItsRun)
  {
    run("a", {});
    const RunRecord record = run("b", {from("a/solution.json"), "problem.exact_solution=T0"});
    EXPECT_LT(*record.l2_error, 1e-6);
  }

  TEST_F(Restart, OverTheFileThatItReads)
  {
    run("a", {});
    const RunRecord record = run("a",
        {from("a/solution.json"), "problem.initial_guess=T0", "problem.right_hand_side=T0",
            "boundary.right_value=T0", "boundary.left_value=T0"});
    EXPECT_TRUE(record.report.converged());
    EXPECT_EQ(NpyArray((directory_ / "a/solution.npy").string()).size(), 6 * 8 * 4 * 27);
  }

  TEST_F(Restart, WhatHasNotConvergedIsToldAndContinued)
  {
    const RunRecord first = run("a", {"solver.max_iterations=2"});
    EXPECT_FALSE(first.report.converged());
    EXPECT_TRUE(fs::exists(directory_ / "a/solution_not_converged.npy"));
    EXPECT_FALSE(fs::exists(directory_ / "a/solution.npy"));
    const RunRecord second =
        run("a", {from("a/solution_not_converged.json"), "problem.initial_guess=T0"});
    EXPECT_TRUE(second.report.converged());
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
    {
      EXPECT_NE(
          screen_.str().find("solution_not_converged.json is of a solve that had not converged"),
          std::string::npos)
          << screen_.str();
      EXPECT_NE(
          screen_.str().find("solution_not_converged.json and its array are of an earlier run"),
          std::string::npos)
          << screen_.str();
    }
  }
} // namespace
} // namespace tensormg
