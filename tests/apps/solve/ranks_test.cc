// The solution does not depend on the number of ranks: it is that of one rank up to rounding.
//
// ranks: 1 2 3 4
#include <array>
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
  using test::TemporaryDirectory;

  RunRecord solve(MPI_Comm communicator, const std::vector<std::string> &overrides)
  {
    const TemporaryDirectory directory(communicator);
    std::vector<std::string> all = overrides;
    all.push_back("output.directory=" + directory.path().string());
    all.emplace_back("solver.tolerance=1e-13");
    all.emplace_back("solver.max_iterations=40");
    Console silent = Console::silent(communicator);
    return run_solve(default_parameters(all), communicator, silent);
  }

  /// Errors are differences of functions of size 1: rounding of those shows in them.
  void expect_independent_of_ranks(const std::vector<std::string> &problem)
  {
    SCOPED_TRACE(testing::PrintToString(problem));
    const RunRecord one = solve(MPI_COMM_SELF, problem), all = solve(MPI_COMM_WORLD, problem);
    EXPECT_EQ(all.report.reason, one.report.reason);
    EXPECT_EQ(all.dofs, one.dofs);
    constexpr double least_norm = 0.3; // of the solutions below
    EXPECT_NEAR(*all.l2_error, *one.l2_error, 1e-12 * least_norm);

    // All ranks know the same record.
    std::array<double, 2> seen{*all.l2_error, -*all.l2_error};
    MPI_Allreduce(MPI_IN_PLACE, seen.data(), 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    EXPECT_EQ(seen[0], -seen[1]);
  }

  const std::vector<std::string> dirichlet{"problem.upper=1,2,1", "problem.coarse_cells=1,2,1",
      "problem.degree=2", "problem.refinements=3",
      "problem.right_hand_side=(2+1/4)*pi^2*sin(pi*x)*cos(pi*y/2)*sin(pi*z)",
      "problem.exact_solution=sin(pi*x)*cos(pi*y/2)*sin(pi*z)", "boundary.front=neumann",
      "boundary.back_value=-sin(pi*x)*sin(pi*z)"};

  std::vector<std::string> with(
      std::vector<std::string> problem, const std::vector<std::string> &more)
  {
    problem.insert(problem.end(), more.begin(), more.end());
    return problem;
  }

  TEST(SolveRanks, Precisions)
  {
    for (const std::string precision : {"double", "single", "half"})
      expect_independent_of_ranks(with(dirichlet, {"multigrid.precision=" + precision}));
  }

  TEST(SolveRanks, NormOfTheSolution)
  {
    // As the distance to zero.
    const std::vector<std::string> norm = with(dirichlet, {"problem.exact_solution=0"});
    const RunRecord one = solve(MPI_COMM_SELF, norm), all = solve(MPI_COMM_WORLD, norm);
    EXPECT_NEAR(*one.l2_error, 0.5, 1e-4);
    EXPECT_NEAR(*all.l2_error / *one.l2_error, 1., 1e-12);
  }

  TEST(SolveRanks, Solvers)
  {
    expect_independent_of_ranks(with(dirichlet, {"solver.solver=cg", "problem.refinements=4"}));
    expect_independent_of_ranks(with(dirichlet, {"solver.solver=direct"}));
    expect_independent_of_ranks(with(dirichlet, {"solver.full_multigrid=true"}));
    expect_independent_of_ranks(with(dirichlet, {"multigrid.cycle=w"}));
  }

  TEST(SolveRanks, Smoothers)
  {
    expect_independent_of_ranks(with(dirichlet, {"multigrid.smoother=jacobi"}));
    expect_independent_of_ranks(
        with(dirichlet, {"multigrid.smoother=patch", "multigrid.degree=1"}));
    expect_independent_of_ranks(with(dirichlet,
        {"multigrid.smoother=patch", "multigrid.schwarz_kind=additive", "multigrid.degree=2"}));
  }

  TEST(SolveRanks, PeriodicAndSingular)
  {
    expect_independent_of_ranks(
        {"problem.degree=3", "problem.refinements=4", "problem.coefficient=2",
            "boundary.left=periodic", "boundary.right=periodic", "boundary.front=neumann",
            "boundary.back=neumann", "boundary.bottom=periodic", "boundary.top=periodic",
            "problem.right_hand_side=2*9*pi^2*sin(2*pi*x)*cos(pi*y)*cos(2*pi*z)",
            "problem.exact_solution=sin(2*pi*x)*cos(pi*y)*cos(2*pi*z)"});
  }

  TEST(SolveRanks, TwoDimensions)
  {
    expect_independent_of_ranks({"problem.dimension=2", "problem.degree=4", "problem.refinements=5",
        "problem.right_hand_side=2*pi^2*sin(pi*x)*sin(pi*y)",
        "problem.exact_solution=sin(pi*x)*sin(pi*y)"});
  }

  TEST(SolveRanks, MoreRanksThanCells)
  {
    expect_independent_of_ranks({"problem.degree=1", "problem.refinements=1",
        "problem.right_hand_side=3*pi^2*sin(pi*x)*sin(pi*y)*sin(pi*z)",
        "problem.exact_solution=sin(pi*x)*sin(pi*y)*sin(pi*z)"});
  }

  TEST(SolveRanks, RefusalsOnAllRanks)
  {
    EXPECT_THROW(solve(MPI_COMM_WORLD, {"problem.refinements=13"}), ParameterError);
    EXPECT_THROW(
        solve(MPI_COMM_WORLD,
            {"boundary.left=neumann", "boundary.right=neumann", "boundary.front=neumann",
                "boundary.back=neumann", "boundary.bottom=neumann", "boundary.top=neumann"}),
        ParameterError);
    const TemporaryDirectory directory(MPI_COMM_WORLD);
    Console silent = Console::silent(MPI_COMM_WORLD);
    EXPECT_THROW(
        run_solve(default_parameters({"output.directory=/proc/tensormg"}), MPI_COMM_WORLD, silent),
        ParameterError);
  }

  TEST(SolveRanks, FieldOutput)
  {
    const TemporaryDirectory directory(MPI_COMM_WORLD);
    const Parameters parameters = default_parameters(with(
        dirichlet, {"problem.refinements=3", "output.directory=" + directory.path().string()}));
    Console silent = Console::silent(MPI_COMM_WORLD);
    const RunRecord record = run_solve(parameters, MPI_COMM_WORLD, silent);
    ASSERT_EQ(record.files.size(), 4U);
    for (const std::string &file : record.files)
      EXPECT_TRUE(std::filesystem::exists(file)) << file;
  }
} // namespace
} // namespace tensormg
