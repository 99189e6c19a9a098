// The library with coefficients of cells: layers whose exact solution it has, and what it refuses.
// ranks: 1 2
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "tensormg/mpi.h"
#include "tensormg/solver.h"
#include "tensormg/voxels.h"

namespace tensormg
{
namespace
{
  Execution everybody()
  {
    Execution execution;
    execution.backend = "cpu";
    execution.communicator = communicator(MPI_COMM_WORLD);
    return execution;
  }

  /// Layers of K = 2, 0.05 and 10 in z, each of thickness 1, with u = 1 below and u = 0 above.
  Problem wall(int degree)
  {
    Problem problem;
    problem.degree = degree;
    problem.upper = {1., 1., 3.};
    problem.coarse_cells = {1, 1, 3};
    problem.refinements = 2;
    problem.right_hand_side = "0";
    problem.boundary = {BoundaryKind::neumann, BoundaryKind::neumann, BoundaryKind::periodic,
        BoundaryKind::periodic, BoundaryKind::dirichlet, BoundaryKind::dirichlet};
    problem.boundary_value[4] = "1";
    set_voxels(problem, "layers", {1, 1, 3}, {2., 0.05, 10.});
    problem.cell_coefficient[0] = "layers";
    return problem;
  }

  TEST(CellwiseSolver, LayersAreExact)
  {
    for (const int degree : {1, 2, 3})
      for (const bool is_tensor : {false, true})
      {
        Problem problem = wall(degree);
        if (is_tensor)
          problem.cell_coefficient = {"1", "if(z<1,1,3)", "layers"};
        SolverOptions options;
        options.tolerance = 1e-13;
        options.max_iterations = 300;
        Solver solver(problem, options, everybody());
        const auto size = static_cast<std::size_t>(solver.size());
        std::vector<double> u(size), x(size), y(size), z(size);
        EXPECT_TRUE(solver.solve(u).converged());
        solver.coordinates(x, y, z);
        double largest = 0.;
        for (std::size_t i = 0; i < size; ++i)
        {
          const double resistance = z[i] < 1. ? 0.5 * z[i]
              : z[i] < 2.                     ? 0.5 + 20. * (z[i] - 1.)
                                              : 20.5 + 0.1 * (z[i] - 2.);
          largest = std::max(largest, std::abs(u[i] - (1. - resistance / 20.6)));
        }
        EXPECT_LT(largest, 1e-10);
      }
  }

  void expect_refused(const std::string &text, const std::function<void(Problem &)> &change,
      const SolverOptions &options = {})
  {
    Problem problem = wall(1);
    change(problem);
    try
    {
      const Solver solver(problem, options, everybody());
      ADD_FAILURE() << "no error; expected: " << text;
    }
    catch (const ArgumentError &error)
    {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  }

  TEST(CellwiseSolver, WhatItRefuses)
  {
    const auto same = [](Problem &) {};
    SolverOptions direct, patch;
    direct.solver = OuterSolver::direct;
    patch.multigrid.smoother = Smoother::patch;
    expect_refused("options.solver = direct", same, direct);
    expect_refused("smoother = patch", same, patch);
    expect_refused("problem.cell_coefficient[2] = ''", [](Problem &p) {
      p.cell_coefficient = {"1", "2", ""};
    });
    expect_refused("problem.cell_coefficient[1] = '2'", [](Problem &p) {
      p.cell_coefficient = {"", "2", "3"};
    });
    expect_refused("layers has 0; allowed: 1 to 2^30", [](Problem &p) {
      p.voxels["layers"] = {1, 0, 1};
    });
    expect_refused("problem.coefficient = 'none' cannot be parsed",
        [](Problem &p) { p.cell_coefficient[0] = "none"; });
    expect_refused("problem.coefficient = 'layers' is -2, allowed: > 0", [](Problem &p) {
      set_voxels(p, "layers", {1, 1, 1}, {-2.});
    });
    expect_refused(
        "problem.reaction = '-1' is -1, allowed: >= 0", [](Problem &p) { p.reaction = "-1"; });
  }
} // namespace
} // namespace tensormg
