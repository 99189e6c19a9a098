// What the iteration starts from: the same function on any number of ranks and after a precision fallback, whatever the
// right-hand side, and a message where it is too large for the numbers.
// ranks: 1 2 3
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/solve/solve.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using Overrides = std::vector<std::string>;

  /// 4 x 8 x 4 cells of degree 2, two kinds of boundaries, a Krylov method.
  RunRecord solve(MPI_Comm communicator, const Overrides &overrides)
  {
    const test::TemporaryDirectory directory(communicator);
    Overrides all{"problem.upper=1,2,1", "problem.coarse_cells=1,2,1", "problem.refinements=2",
        "problem.degree=2", "problem.right_hand_side=(2+1/4)*pi^2*sin(pi*x)*cos(pi*y/2)*sin(pi*z)",
        "problem.exact_solution=sin(pi*x)*cos(pi*y/2)*sin(pi*z)", "boundary.front=neumann",
        "boundary.back=neumann", "output.write_vtu=false",
        "output.directory=" + directory.path().string()};
    all.insert(all.end(), overrides.begin(), overrides.end());
    Console silent = Console::silent(communicator);
    return run_solve(default_parameters(all), communicator, silent);
  }

  TEST(InitialGuess, IsTheSameFunctionOnAllRanks)
  {
    for (const std::string solver : {"solver.solver=fgmres", "solver.solver=cg"})
      for (const std::string guess : {"sin(pi*x)*cos(pi*y/2)*sin(pi*z)", "x*(1 - x)*y*z^2"})
      {
        const Overrides overrides{solver, "problem.initial_guess=" + guess};
        const RunRecord one = solve(MPI_COMM_SELF, overrides),
                        all = solve(MPI_COMM_WORLD, overrides);
        EXPECT_TRUE(all.report.converged()) << all.report.detail;
        EXPECT_EQ(all.report.iterations, one.report.iterations);
        EXPECT_NEAR(all.report.residuals.front() / one.report.residuals.front(), 1., 1e-10);
        EXPECT_NEAR(*all.l2_error / *one.l2_error, 1., 1e-6);
      }
  }

  TEST(InitialGuess, IsForgottenWhereTheRightHandSideIsZero)
  {
    for (const std::string solver : {"solver.solver=fgmres", "solver.solver=cg"})
    {
      const RunRecord record = solve(MPI_COMM_WORLD,
          {solver, "problem.right_hand_side=0", "problem.exact_solution=0",
              "problem.initial_guess=1 + x*y"});
      EXPECT_TRUE(record.report.converged()) << record.report.detail;
      EXPECT_EQ(record.report.iterations, 0);
      EXPECT_EQ(*record.l2_error, 0.);
    }
  }

  // Sweeps that enlarge rough errors leave the range of half precision at once, that of single not in five iterations.
  TEST(InitialGuess, IsWhatAFallbackStartsFromAgain)
  {
    const auto run = [](const std::string &precision, const std::string &guess) {
      return solve(MPI_COMM_WORLD,
          {"multigrid.smoother=jacobi", "multigrid.damping=500", "multigrid.degree=1",
              "solver.max_iterations=5", "multigrid.precision_fallback=true",
              "multigrid.precision=" + precision, "problem.initial_guess=" + guess});
    };
    const std::string guess = "x*(1 - x)*y*z^2";
    const RunRecord again = run("half", guess), single = run("single", guess);
    EXPECT_NE(again.report.precision_fallback, "");
    EXPECT_EQ(single.report.precision_fallback, "");
    EXPECT_EQ(again.report.residuals, single.report.residuals);
    EXPECT_NE(again.report.residuals.front(), run("single", "").report.residuals.front());
  }

  // The residual falls through all the orders of magnitude between it and the right-hand side.
  TEST(InitialGuess, MayBeFarAboveTheRightHandSide)
  {
    const RunRecord right = solve(MPI_COMM_WORLD, {});
    for (const std::string solver : {"solver.solver=fgmres", "solver.solver=cg"})
      for (const std::string precision : {"double", "half"})
      {
        const RunRecord record = solve(MPI_COMM_WORLD,
            {solver, "multigrid.precision=" + precision, "problem.initial_guess=1e30*x"});
        EXPECT_TRUE(record.report.converged()) << record.report.detail;
        EXPECT_GT(record.report.residuals.front(), 1e30);
        EXPECT_NEAR(*record.l2_error / *right.l2_error, 1., 1e-6);
      }
    EXPECT_TRUE(solve(MPI_COMM_WORLD, {"problem.initial_guess=1e128*x"}).report.converged());
  }

  TEST(InitialGuess, IsRefusedWhereItsSquaresLeaveTheRange)
  {
    for (const std::string solver : {"solver.solver=fgmres", "solver.solver=cg"})
    {
      expect_message(
          [&] {
            solve(MPI_COMM_WORLD, {solver, "problem.initial_guess=1e160*x"});
          },
          {"problem.initial_guess", "right-hand side", "e+159, allowed are 1e+130"});
      // Which depends on the right-hand side: the problem is solved in its units.
      const std::string tiny = "problem.right_hand_side=1e-180";
      expect_message(
          [&] {
            solve(MPI_COMM_WORLD,
                {solver, tiny, "problem.exact_solution=", "problem.initial_guess=x"});
          },
          {"problem.initial_guess", "allowed are ", "e-52"});
      const RunRecord record = solve(MPI_COMM_WORLD,
          {solver, tiny, "problem.exact_solution=", "problem.initial_guess=1e-60*x"});
      EXPECT_TRUE(record.report.converged()) << record.report.detail;
    }
  }
} // namespace
} // namespace tensormg
