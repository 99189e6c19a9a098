// What a solve needs, what the machine has, and the refusal if that does not fit.
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "apps/common/memory_plan.h"
#include "apps/parameters/parameters.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using test::TemporaryDirectory;
  using test::write;

  /// 8^3 cells of degree 1, without padding.
  Grid small_grid()
  {
    Problem problem;
    problem.degree = 1;
    problem.refinements = 3;
    return make_grid(problem, MPI_COMM_SELF);
  }
  constexpr double small_vector = 8. * 16 * 16 * 16;

  TEST(MemoryPlan, CountsCoefficientsOfCells)
  {
    Problem problem = small_grid().problem;
    problem.cell_coefficient[0] = "2";
    const auto bytes = [](const Problem &of) {
      return make_memory_plan(make_grid(of, MPI_COMM_SELF), SolverOptions()).bytes();
    };
    // On the finest level one number of the grid and 7 of each of three operators, one of them in single.
    constexpr double cells = 8. * 8 * 8;
    const double found = bytes(problem) - bytes(small_grid().problem);
    EXPECT_GT(found, 8. * cells * (1 + 2.5 * 7));
    EXPECT_LT(found, 3. * 8. * cells * (1 + 2.5 * 7));
    Problem with_reaction = problem;
    with_reaction.reaction = "1";
    EXPECT_GT(bytes(with_reaction) - bytes(problem), 8. * cells);
  }

  TEST(MemoryPlan, CountsVectors)
  {
    const Grid grid = small_grid();
    SolverOptions options;
    options.restart = 10;
    const double multigrid =
        static_cast<double>(multigrid_bytes<HostContext>(grid, options.multigrid));
    // A basis of numbers with half as many bits, and the residual in double precision.
    EXPECT_EQ(make_memory_plan(grid, options).bytes(),
        (2 + 1 + 0.5 * (11 + 10)) * small_vector + multigrid);
    options.max_iterations = 4; // the basis does not grow longer
    EXPECT_EQ(make_memory_plan(grid, options).bytes(),
        (2 + 1 + 0.5 * (5 + 4)) * small_vector + multigrid);
    options.basis_precision = BasisPrecision::double_precision;
    EXPECT_EQ(make_memory_plan(grid, options).bytes(), (2 + 5 + 4) * small_vector + multigrid);
    SolverOptions in_double;
    in_double.multigrid.precision = Precision::double_precision;
    in_double.restart = 10;
    EXPECT_EQ(make_memory_plan(grid, in_double).bytes(),
        (2 + 11 + 10) * small_vector +
            static_cast<double>(multigrid_bytes<HostContext>(grid, in_double.multigrid)));
    options.solver = OuterSolver::cg;
    EXPECT_EQ(make_memory_plan(grid, options).bytes(), (2 + 4) * small_vector + multigrid);
    options.full_multigrid = true;
    EXPECT_GT(make_memory_plan(grid, options).bytes(), (2 + 4) * small_vector + multigrid);
    options = SolverOptions();
    options.solver = OuterSolver::direct;
    EXPECT_GT(make_memory_plan(grid, options).bytes(), (2 + 2 + 2) * small_vector);
  }

  TEST(MemoryPlan, GridsOfAnySize)
  {
    Problem problem;
    problem.degree = 8;
    problem.refinements = 17; // 1.6e18 unknowns, 13e18 bytes per vector
    SolverOptions options;
    for (const OuterSolver solver : {OuterSolver::fgmres, OuterSolver::direct})
    {
      options.solver = solver;
      options.restart = options.max_iterations = std::numeric_limits<int>::max();
      EXPECT_GT(make_memory_plan(make_grid(problem, MPI_COMM_SELF), options).bytes(), 1.3e19);
    }
  }

  TEST(MemoryPlan, Budget)
  {
    MemoryBudget budget = make_memory_budget(10., 100., MPI_COMM_SELF);
    EXPECT_EQ(budget.needed, 10.);
    EXPECT_EQ(budget.available, 100.);
    EXPECT_EQ(budget.ranks, 1);
    EXPECT_TRUE(budget.fits());
    budget.needed = 96.;
    EXPECT_FALSE(budget.fits());
    budget.available = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(budget.fits());
  }

  TEST(MemoryPlan, RefusalSaysWhatHelps)
  {
    const Grid grid = small_grid();
    SolverOptions options;
    const double needed = make_memory_plan(grid, options).bytes();
    EXPECT_NO_THROW(check_memory(grid, options, 2. * needed));
    // What is there already need not be there once more.
    EXPECT_THROW(check_memory(grid, options, 0.9 * needed), ParameterError);
    EXPECT_NO_THROW(check_memory(grid, options, 0.9 * needed, MemoryPlace::host, 0.2 * needed));
    expect_message([&] { check_memory(grid, options, 0.7 * needed); },
        {"problem.refinements = 3: 4 096 degrees of freedom need",
            "(with all 22 vectors of fgmres)", "95 % may be used",
            "the largest number of refinements that fits is 2",
            "3 would fit with solver.restart = ", "solver.solver = cg"});
    options.basis_precision = BasisPrecision::double_precision;
    expect_message(
        [&] { check_memory(grid, options, 0.7 * make_memory_plan(grid, options).bytes()); },
        {"(with all 21 vectors of fgmres)", "solver.basis_precision = single"});
    options.solver = OuterSolver::cg;
    options.multigrid.precision = Precision::double_precision;
    expect_message(
        [&] { check_memory(grid, options, 0.9 * make_memory_plan(grid, options).bytes()); },
        {"multigrid.precision = half"});
    expect_message(
        [&] { check_memory(grid, options, 100.); }, {"no smaller number of refinements"});
    expect_message([&] { check_memory(grid, options, 100., MemoryPlace::device); },
        {"on a device with", "operator.backend = cpu takes that of the node"});
  }

  TEST(MemoryPlan, RecommendedRestartFits)
  {
    const Grid grid = small_grid();
    SolverOptions options;
    const double available = 0.7 * make_memory_plan(grid, options).bytes();
    std::string message;
    try
    {
      check_memory(grid, options, available);
    }
    catch (const ParameterError &error)
    {
      message = error.what();
    }
    const std::string key = "solver.restart = ";
    ASSERT_NE(message.find(key), std::string::npos) << message;
    options.restart = std::stoi(message.substr(message.find(key) + key.size()));
    EXPECT_NO_THROW(check_memory(grid, options, available));
    ++options.restart;
    EXPECT_THROW(check_memory(grid, options, available), ParameterError);
  }

  TEST(AvailableMemory, Meminfo)
  {
    std::istringstream meminfo("MemTotal: 100 kB\nMemFree:  1 kB\nMemAvailable:   50 kB\n");
    EXPECT_EQ(read_meminfo(meminfo), 50. * 1024.);
    std::istringstream old_kernel("MemTotal: 100 kB\n");
    EXPECT_EQ(read_meminfo(old_kernel), std::nullopt);
    EXPECT_GT(available_memory(), 0.);
  }

  TEST(AvailableMemory, ControlGroupsVersion2)
  {
    const TemporaryDirectory root;
    write(root / "a/memory.max", "1000\n");
    write(root / "a/memory.current", "400\n");
    write(root / "a/b/memory.max", "max\n");
    write(root / "a/b/memory.current", "300\n");
    write(root / "a/b/c/memory.max", "900\n");
    write(root / "a/b/c/memory.current", "250\n");
    write(root / "a/b/c/memory.stat", "anon 200\ninactive_file 50\n");
    const auto room = [&](const std::string &groups) {
      std::istringstream stream(groups);
      return control_group_room(stream, root.path());
    };
    EXPECT_EQ(room("0::/a/b/c\n"), 600.); // of a
    write(root / "a/memory.current", "200\n");
    EXPECT_EQ(room("0::/a/b/c\n"), 700.); // of c, with the cache
    EXPECT_EQ(room("0::/\n"), std::nullopt);
    EXPECT_EQ(room("0::/not/there\n"), std::nullopt);
    EXPECT_EQ(room("nonsense\n"), std::nullopt);
  }

  TEST(AvailableMemory, ControlGroupsVersion1)
  {
    const TemporaryDirectory root;
    write(root / "memory/job/memory.limit_in_bytes", "1000\n");
    write(root / "memory/job/memory.usage_in_bytes", "1200\n");
    std::istringstream groups("7:cpu,cpuacct:/job\n5:memory:/job\n");
    EXPECT_EQ(control_group_room(groups, root.path()), 0.);
  }
} // namespace
} // namespace tensormg
