// Solves on devices by several ranks, which may share one: iterations, solutions and errors of one rank on the host.
// ranks: 2 4
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "kernels/device/device.h"
#include "tensormg/mpi.h"
#include "tensormg/solver.h"
#include "tests/operators/solver/on_backend.h"
#include "tests/support/few_cases.h"

namespace tensormg
{
namespace
{
  using test::Numbers;

  Execution together(const char *backend)
  {
    Execution execution = test::on(backend);
    execution.communicator = communicator(MPI_COMM_WORLD);
    return execution;
  }

  /// On a box of 0.75 x 1 x 1.5 with a smooth right-hand side.
  Problem box(int dim, int degree, std::array<std::int64_t, 3> coarse, int refinements,
      const std::string &sides)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = degree;
    problem.coarse_cells = coarse;
    problem.refinements = refinements;
    problem.upper = {0.75, 1., 1.5};
    problem.right_hand_side = dim == 3 ? "exp(x)*cos(3*y)+z" : "exp(x)*cos(3*y)";
    for (int s = 0; s < 2 * dim; ++s)
    {
      const auto side = static_cast<std::size_t>(s);
      const char kind = sides[side];
      problem.boundary[side] = kind == 'P' ? BoundaryKind::periodic
          : kind == 'N'                    ? BoundaryKind::neumann
                                           : BoundaryKind::dirichlet;
      problem.boundary_value[side] = kind == 'P' ? "0" : "sin(x+2*y)";
    }
    return problem;
  }

  /// What this rank has of the nodal values of all cells.
  Numbers part_of(const Solver &solver, const Problem &problem, const Numbers &whole)
  {
    const LocalCells cells = solver.cells();
    const auto of_cell = static_cast<std::int64_t>(std::pow(problem.degree + 1, problem.dim) + 0.5);
    Numbers part;
    for (std::int64_t z = cells.begin[2]; z < cells.end[2]; ++z)
      for (std::int64_t y = cells.begin[1]; y < cells.end[1]; ++y)
        for (std::int64_t x = cells.begin[0]; x < cells.end[0]; ++x)
        {
          const auto first = whole.begin() + ((z * cells.box[1] + y) * cells.box[0] + x) * of_cell;
          part.insert(part.end(), first, first + of_cell);
        }
    return part;
  }

  class DeviceRanks : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }

    /// Bounds: of the difference of the iterations, and of the solutions relative to the largest entry.
    static void compare(
        const Problem &problem, const SolverOptions &options, int more, double difference)
    {
      SCOPED_TRACE(testing::Message()
          << problem.dim << "D, degree " << problem.degree << ", " << problem.refinements
          << " refinements, " << to_string(options.multigrid.precision));
      Solver alone(problem, options, test::on("cpu"));
      Numbers expected(static_cast<std::size_t>(alone.size()));
      const SolveReport host = alone.solve(expected);
      ASSERT_TRUE(host.converged()) << host.detail;
      Solver solver(problem, options, together("cuda"));
      ASSERT_LT(solver.size(), alone.size()) << "the grid is not divided";
      Numbers found(static_cast<std::size_t>(solver.size()));
      const SolveReport report = solver.solve(found);
      EXPECT_TRUE(report.converged()) << report.detail;
      EXPECT_NEAR(report.iterations, host.iterations, more);
      EXPECT_LT(test::relative_difference(found, part_of(solver, problem, expected)), difference);
      if (!test::runs_again())
        return;
      Numbers again(found.size());
      EXPECT_EQ(solver.solve(again).residuals, report.residuals);
      EXPECT_EQ(again, found);
    }
  };

  SolverOptions in(Precision precision, OuterSolver method = OuterSolver::fgmres)
  {
    SolverOptions options;
    options.tolerance = 1e-10;
    options.solver = method;
    options.multigrid.precision = precision;
    options.multigrid.replicated_dofs = 0; // as many levels as can be are divided
    return options;
  }

  TEST_F(DeviceRanks, SolveAsOneOnTheHost)
  {
    for (const auto &[problem, precision] :
        {std::pair{box(2, 3, {4, 9, 1}, 3, "DDNDPP"), Precision::double_precision},
            {box(2, 2, {8, 9, 1}, 3, "PPPPDD"), Precision::single_precision},
            {box(3, 3, {2, 2, 3}, 2, "DNPPDD"), Precision::double_precision},
            {box(3, 1, {4, 4, 5}, 2, "DDDNPP"), Precision::half_precision}})
      for (const OuterSolver method : {OuterSolver::fgmres, OuterSolver::cg})
        if (precision == Precision::half_precision || method == OuterSolver::fgmres ||
            !test::has_few_cases())
          compare(problem, in(precision, method), 1,
              precision == Precision::double_precision ? 1e-8 : 1e-7);
  }

  TEST_F(DeviceRanks, MethodsAndSmoothers)
  {
    const Problem problem = box(2, 3, {4, 9, 1}, 3, "DDDDDD");
    SolverOptions options = in(Precision::single_precision);
    options.multigrid.smoother = Smoother::jacobi;
    options.multigrid.cycle = Cycle::w;
    compare(problem, options, 1, 1e-7);
    options = in(Precision::half_precision);
    options.multigrid.single_levels = 2;
    options.full_multigrid = true;
    compare(problem, options, 1, 1e-7);
    options = in(Precision::double_precision);
    options.basis_precision = BasisPrecision::double_precision;
    compare(problem, options, 0, 1e-8);
  }

  TEST_F(DeviceRanks, StretchedCells)
  {
    Problem problem = box(2, 3, {8, 5, 1}, 3, "DDNNDD");
    problem.upper = {10., 1., 1.};
    compare(problem, in(Precision::double_precision), 1, 1e-8);
  }

  // With two ranks there are layers enough for an interior that is computed while messages travel.
  TEST_F(DeviceRanks, ManyLayers)
  {
    for (const char *sides : {"DDNDDN", "DDPPPP"})
    {
      Problem problem = box(3, 2, {1, 1, 8}, 2, sides);
      problem.upper = {1., 1., 8.};
      for (const Precision precision : {Precision::double_precision, Precision::half_precision})
        compare(problem, in(precision), 1, precision == Precision::double_precision ? 1e-8 : 1e-7);
    }
  }

  TEST_F(DeviceRanks, SmallLevelsAreOnEveryRank)
  {
    const Problem problem = box(3, 2, {2, 2, 3}, 2, "DNPPDD");
    SolverOptions options = in(Precision::half_precision);
    options.multigrid.replicated_dofs = 2600; // the coarsest has 324 unknowns, the next one 2592
    compare(problem, options, 1, 1e-7);
    // A small grid is one of every rank, and then what cannot be divided is there, too.
    options.multigrid.replicated_dofs = 1 << 21;
    options.multigrid.smoother = Smoother::patch;
    Solver solver(problem, options, together("cuda")), alone(problem, options, test::on("cuda"));
    ASSERT_EQ(solver.size(), alone.size());
    Numbers found(static_cast<std::size_t>(solver.size())), expected(found.size());
    EXPECT_TRUE(solver.solve(found).converged());
    EXPECT_TRUE(alone.solve(expected).converged());
    EXPECT_EQ(found, expected);
  }

  // One that each rank has for itself, unless a small grid is one of every rank.
  TEST_F(DeviceRanks, AutomaticTakesADeviceForEachRank)
  {
    int count = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    const Problem problem = box(2, 2, {4, 8, 1}, 2, "DDDDDD");
    const std::string expected = device_count() >= count ? "cuda" : "cpu";
    EXPECT_EQ(Solver(problem, in(Precision::automatic), together("auto")).backend(), expected);
    const SolverOptions on_tensor_cores = in(Precision::corrected_half_precision);
    const Problem solid = box(3, 3, {2, 2, 4}, 1, "DDDDDD");
    if (device_count() >= count)
    {
      EXPECT_NO_THROW(Solver(solid, on_tensor_cores, together("auto")));
    }
    else
    {
      EXPECT_THROW(Solver(solid, on_tensor_cores, together("auto")), ArgumentError);
    }
    EXPECT_EQ(Solver(problem, in(Precision::automatic), together("cuda")).backend(), "cuda");
  }

  // In the middle of recorded cycles.
  TEST_F(DeviceRanks, AnExceptionOfAllRanksLeavesTheSolverUsable)
  {
    const Problem problem = box(3, 2, {2, 2, 8}, 2, "DDNDDD");
    Execution execution = together("cuda");
    bool throws = true;
    execution.iteration_callback = [&](int iteration, double) {
      if (throws && iteration == 3)
        throw std::runtime_error("enough");
    };
    Solver solver(problem, in(Precision::half_precision), execution);
    Numbers u(static_cast<std::size_t>(solver.size()));
    EXPECT_THROW(solver.solve(u), std::runtime_error);
    throws = false;
    EXPECT_TRUE(solver.solve(u).converged());
  }

  TEST_F(DeviceRanks, WhatIsNotThereIsRefusedByName)
  {
    const Problem problem = box(2, 3, {4, 9, 1}, 3, "DDDDDD");
    const auto refusal = [&](const Problem &p, const SolverOptions &options) {
      try
      {
        Solver(p, options, together("cuda"));
      }
      catch (const ArgumentError &error)
      {
        return std::string(error.what());
      }
      return std::string();
    };
    SolverOptions options = in(Precision::automatic, OuterSolver::direct);
    EXPECT_NE(refusal(problem, options).find("direct solver"), std::string::npos);
    options = in(Precision::automatic);
    options.multigrid.smoother = Smoother::patch;
    EXPECT_NE(refusal(problem, options).find("patch smoother"), std::string::npos);
    Problem cellwise = problem;
    cellwise.reaction = "1";
    EXPECT_NE(refusal(cellwise, in(Precision::automatic)).find("GPUs in 2D"), std::string::npos);
    Problem flat = box(3, 1, {4, 16, 1}, 2, "DDDDDD"); // few layers
    flat.upper = {1., 4., 0.25};
    flat.reaction = "1";
    EXPECT_NE(
        refusal(flat, in(Precision::automatic)).find("layers of cells in z"), std::string::npos);
  }

  /// With 16 layers for each of four ranks.
  Problem tower(int degree, const char *sides)
  {
    Problem problem = box(3, degree, {1, 1, 16}, 2, sides);
    problem.upper = {1., 1., 16.};
    return problem;
  }

  TEST_F(DeviceRanks, DirectSolver)
  {
    for (const char *sides : {"DDNDDN", "NNPPPP"})
    {
      Problem problem = tower(2, sides);
      problem.coarse_cells[1] = 3; // rows of which the ranks have different numbers
      if (sides[0] == 'N')
        problem.right_hand_side = "cos(2*pi*y)*exp(x)-0*z";
      SolverOptions options = in(Precision::automatic, OuterSolver::direct);
      options.tolerance = 1e-9;
      compare(problem, options, 0, 1e-9);
    }
  }

  TEST_F(DeviceRanks, CoefficientsOfCells)
  {
    Problem problem = tower(2, "DDPPND");
    problem.cell_coefficient[0] = "1+0.5*sin(3*x)*cos(2*pi*y)+0.05*z";
    problem.coefficient_in_cell = InCell::mean;
    problem.reaction = "0.1*x";
    for (const Precision precision : {Precision::double_precision, Precision::half_precision})
      compare(problem, in(precision), 1, precision == Precision::double_precision ? 1e-8 : 1e-6);
  }

  // Stiff cells, some of which meet in a corner: vertices with algebraic multigrid where the library is there, and lines.
  TEST_F(DeviceRanks, VerticesAndLines)
  {
    Problem problem = tower(2, "DDDDDD");
    problem.cell_coefficient[0] = "if(cos(pi*(floor(4*x)+floor(4*y)+floor(4*z))) > 0, 1000, 1)";
    SolverOptions options = in(Precision::double_precision);
    compare(problem, options, 2, 1e-7);
    options.multigrid.coarsening = Coarsening::vertices_and_lines;
    compare(problem, options, 8, 1e-7); // lines end at the borders of ranks
  }

  TEST_F(DeviceRanks, ProductsByFastDiagonalisation)
  {
    Problem problem = tower(2, "DNDDDN");
    problem.boundary[4] = BoundaryKind::robin;
    problem.robin_coefficient[4] = "2";
    problem.cell_coefficient[0] = "exp(3*x)*(1+floor(z))";
    problem.coefficient_in_cell = InCell::mean;
    compare(problem, in(Precision::automatic), 0, 1e-8);
  }
} // namespace
} // namespace tensormg
