// The library on a GPU: the vectors of its callers lie in host memory, and it gives what it gives on the host.
#include "tensormg/solver.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "tests/operators/solver/on_backend.h"
#include "tests/support/few_cases.h"

namespace tensormg
{
namespace
{
  using test::Numbers, test::numbers, test::on, test::relative_difference;

  Problem box(int dim)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = 3;
    problem.coarse_cells = {3, 2, dim == 3 ? 2 : 1};
    problem.refinements = 1;
    problem.upper = {1.5, 1., 1.25};
    problem.boundary = {BoundaryKind::dirichlet, BoundaryKind::neumann, BoundaryKind::periodic,
        BoundaryKind::periodic, BoundaryKind::neumann, BoundaryKind::dirichlet};
    problem.boundary_value[1] = "y*(1-y)";
    return problem;
  }

  TEST(SolverOnDevice, GivesWhatTheHostGives)
  {
    for (const int dim : {2, 3})
      for (const OuterSolver method : {OuterSolver::fgmres, OuterSolver::cg})
      {
        SolverOptions options;
        options.solver = method;
        options.tolerance = 1e-11;
        Solver host(box(dim), options, on("cpu")), device(box(dim), options, on("cuda"));
        EXPECT_EQ(device.backend(), "cuda");
        const Numbers f = numbers(host.size());
        Numbers expected(f.size()), found(f.size()), again(f.size());
        host.multiply(expected, f);
        device.multiply(found, f);
        EXPECT_LT(relative_difference(found, expected), 1e-13);
        ASSERT_TRUE(host.solve(f, expected).converged());
        ASSERT_TRUE(device.solve(f, found).converged());
        EXPECT_LT(relative_difference(found, expected), 1e-9);
        ASSERT_TRUE(device.solve(f, again).converged());
        EXPECT_EQ(again, found);
        const SolveReport report = device.solve(f, again, Start::given);
        EXPECT_LE(report.iterations, 1);
        host.precondition(expected, f);
        device.precondition(found, f);
        // Another level is solved directly there.
        EXPECT_LT(relative_difference(found, expected), 0.1);
      }
  }

  // Every degree, rows that are no multiple of a group of cells.
  TEST(SolverOnDevice, TakesVectorsInDeviceMemory)
  {
    for (const int dim : {2, 3})
      for (int degree = 1; degree <= 8; ++degree)
      {
        Problem problem = box(dim);
        problem.degree = degree;
        if (test::has_few_cases() && degree > 2 && degree != 6 - dim)
          continue;
        problem.coarse_cells[0] = 9;
        Solver solver(problem, {}, on("cuda"));
        const Numbers f = numbers(solver.size());
        Numbers expected(f.size()), product(f.size()), found(f.size());
        ASSERT_TRUE(solver.solve(f, expected).converged());
        solver.multiply(product, f);
        const OwnedStream stream;
        DeviceArray<double> from(solver.size(), stream.get()), to(solver.size(), stream.get());
        from.copy_from_host(f.data(), stream.get());
        device::synchronize(stream.get());
        const std::span<double> inside(from.data(), f.size()), outside(to.data(), f.size());
        ASSERT_TRUE(solver.solve(inside, outside).converged());
        to.copy_to_host(found.data(), stream.get());
        EXPECT_EQ(found, expected) << "dim " << dim << " degree " << degree;
        solver.multiply(inside, inside);
        from.copy_to_host(found.data(), stream.get());
        EXPECT_EQ(found, product);
        if (degree == 2)
        {
          Solver host(problem, {}, on("cpu"));
          host.multiply(expected, f);
          EXPECT_LT(relative_difference(product, expected), 1e-13);
        }
      }
  }

  TEST(SolverOnDevice, TakesFunctionsOfTheCallerAndFullMultigrid)
  {
    Problem problem = box(3);
    problem.right_hand_side = "source";
    problem.functions["source"] = [](std::size_t n, const double *x, const double *y,
                                      const double *z, double *values) {
      for (std::size_t q = 0; q < n; ++q)
        values[q] = std::exp(x[q]) * y[q] - z[q];
    };
    SolverOptions options;
    options.full_multigrid = true;
    Solver device(problem, options, on("cuda"));
    problem.right_hand_side = "exp(x)*y-z";
    Solver host(problem, options, on("cpu"));
    Numbers expected(host.size()), found(expected.size());
    ASSERT_TRUE(host.solve(expected).converged());
    ASSERT_TRUE(device.solve(found).converged());
    EXPECT_LT(relative_difference(found, expected), 1e-7);
  }

  // What is queued in the caller's stream comes first.
  TEST(SolverOnDevice, WaitsForTheStreamOfTheCaller)
  {
    const OwnedStream stream;
    Execution execution = on("cuda");
    execution.stream = static_cast<CUstream_st *>(stream.get());
    Solver solver(box(3), {}, execution);
    const Numbers f = numbers(solver.size());
    Numbers expected(f.size()), found(f.size());
    solver.multiply(expected, f);
    DeviceArray<double> from(solver.size(), stream.get()), to(solver.size(), stream.get());
    from.copy_from_host(f.data(), stream.get());
    solver.multiply({to.data(), f.size()}, {from.data(), f.size()});
    to.copy_to_host(found.data(), stream.get());
    EXPECT_EQ(found, expected);
  }

  TEST(SolverOnDevice, SolvesDirectlyAndTakesSidesAsArrays)
  {
    for (const int dim : {2, 3})
    {
      SolverOptions options;
      options.solver = OuterSolver::direct;
      Solver host(box(dim), {}, on("cpu")), device(box(dim), options, on("cuda"));
      for (Solver *solver : {&host, &device})
        solver->set_side_values(0, Numbers(static_cast<std::size_t>(solver->side_size(0)), 0.5));
      const Numbers f = numbers(host.size());
      Numbers expected(f.size()), found(f.size());
      ASSERT_TRUE(host.solve(f, expected).converged());
      ASSERT_TRUE(device.solve(f, found).converged());
      EXPECT_LT(relative_difference(found, expected), 1e-7);
      ASSERT_TRUE(host.solve(expected).converged());
      ASSERT_TRUE(device.solve(found).converged());
      EXPECT_LT(relative_difference(found, expected), 1e-7);
    }
  }

  TEST(SolverOnDevice, RefusesCellsOnTensorCores)
  {
    Problem problem = box(2);
    problem.cell_coefficient[0] = "x < 0.5 ? 1000 : 1";
    EXPECT_THROW(Solver(problem, {}, on("mma")), ArgumentError);
    EXPECT_EQ(Solver(problem, {}, on("auto")).backend(), "cuda");
  }
} // namespace
} // namespace tensormg
