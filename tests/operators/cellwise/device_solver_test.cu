// Coefficients of the cells, reaction and Robin sides on a GPU: the iterations and solutions of the host, coarsest levels that are dense
// and that are not, singular problems, new coefficients, jumps, graded cells.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "tensormg/graded.h"
#include "tensormg/solver.h"
#include "tests/operators/solver/on_backend.h"
#include "tests/support/few_cases.h"

namespace tensormg
{
namespace
{
  using test::Numbers, test::numbers, test::on, test::relative_difference;

  Problem box(int dim, int degree)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = degree;
    problem.coarse_cells = {2, 3, dim == 3 ? 2 : 1};
    problem.refinements = 2;
    problem.cell_coefficient[0] = "1 + 0.5*sin(3*x)*cos(2*y)";
    problem.coefficient_in_cell = InCell::mean;
    problem.reaction = "x < 0.5 ? 2 : 0";
    problem.boundary[1] = BoundaryKind::robin;
    problem.robin_coefficient[1] = "1 + y";
    problem.boundary[2] = problem.boundary[3] = BoundaryKind::periodic;
    problem.boundary[2 * dim - 1] =
        dim == 3 ? BoundaryKind::neumann : problem.boundary[2 * dim - 1];
    return problem;
  }

  class CellwiseSolverOnDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
    static std::vector<Precision> precisions(int dim)
    {
      if (test::has_few_cases())
        return {dim == 2 ? Precision::half_precision : Precision::single_precision};
      return {Precision::double_precision, Precision::single_precision, Precision::half_precision};
    }
    static void compare(const Problem &problem, Precision precision, int more)
    {
      SCOPED_TRACE(testing::Message() << "dim " << problem.dim << " degree " << problem.degree
                                      << " precision " << int(precision));
      SolverOptions options;
      options.tolerance = 1e-9;
      options.multigrid.precision = precision;
      Solver host(problem, options, on("cpu")), device(problem, options, on("cuda"));
      EXPECT_EQ(device.backend(), "cuda");
      const Numbers f = numbers(host.size());
      Numbers expected(f.size()), found(f.size()), again(f.size());
      host.multiply(expected, f);
      device.multiply(found, f);
      EXPECT_LT(relative_difference(found, expected), 1e-13);
      const SolveReport of_host = host.solve(f, expected), of_device = device.solve(f, found);
      EXPECT_TRUE(of_host.converged() && of_device.converged());
      EXPECT_LE(of_device.iterations, of_host.iterations + more);
      EXPECT_LT(relative_difference(found, expected), 1e-6);
      device.solve(f, again);
      EXPECT_EQ(again, found);
    }
  };

  TEST_F(CellwiseSolverOnDevice, GivesWhatTheHostGives)
  {
    for (const int dim : {2, 3})
      for (const Precision precision : precisions(dim))
        compare(box(dim, dim == 3 ? 2 : 3), precision, 1);
  }

  TEST_F(CellwiseSolverOnDevice, SolvesLargeCoarsestLevels)
  {
    Problem problem = box(2, 2);
    problem.coarse_cells = {13, 13, 1}; // 1521 unknowns
    problem.refinements = 1;
    compare(problem, Precision::single_precision, 1);
    if (test::has_few_cases())
      return;
    // One side holds what conducts better and better away from it: the least eigenvalue is far below that of one coefficient.
    problem.reaction.clear();
    problem.cell_coefficient[0] = "exp(4*x)";
    problem.boundary.fill(BoundaryKind::neumann);
    problem.boundary[0] = BoundaryKind::dirichlet;
    compare(problem, Precision::single_precision, 1);
  }

  // Lines of up to 64 unknowns take kernels of their own, others matrix products.
  TEST_F(CellwiseSolverOnDevice, SolvesProductsAtOnce)
  {
    for (const int dim : {2, 3})
      for (const std::int64_t cells : {2, 9})
      {
        Problem problem = box(dim, 3);
        problem.coarse_cells = {cells, 3, dim == 3 ? 2 : 1};
        problem.cell_coefficient[0] = "exp(3*x)";
        problem.reaction.clear();
        problem.robin_coefficient[1] = "2";
        problem.corners[0] = geometric_corners(0., 1., problem.cells(0), 100., FineEnd::both);
        SolverOptions options;
        options.multigrid.precision = Precision::half_precision; // of no effect
        Solver solver(problem, options, on("cuda"));
        const Numbers f = numbers(solver.size());
        Numbers u(f.size());
        const SolveReport report = solver.solve(f, u);
        EXPECT_TRUE(report.converged()) << report.detail;
        EXPECT_LE(report.iterations, 2);
        compare(problem, Precision::automatic, 0);
      }
  }

  TEST_F(CellwiseSolverOnDevice, SolvesSingularProblems)
  {
    Problem problem = box(2, 2);
    problem.reaction.clear();
    problem.boundary.fill(BoundaryKind::neumann);
    for (const auto &cells : {std::array<std::int64_t, 3>{2, 2, 1}, {12, 13, 1}})
    {
      problem.coarse_cells = {cells[0], cells[1], cells[2]};
      problem.refinements = 1;
      compare(problem, Precision::single_precision, 1);
    }
  }

  TEST_F(CellwiseSolverOnDevice, TakesOtherCoefficients)
  {
    double slope = 0.5, jump = 0.;
    Problem problem = box(2, 2);
    problem.functions["K"] = [&](std::size_t n, const double *x, const double *, const double *,
                                 double *values) {
      for (std::size_t i = 0; i < n; ++i)
        values[i] = 2. + slope * x[i] + (x[i] < 0.5 ? jump : 0.);
    };
    problem.cell_coefficient[0] = "K";
    SolverOptions options;
    Solver solver(problem, options, on("cuda"));
    slope = 1.;
    solver.update_coefficients();
    Solver fresh(problem, options, on("cuda"));
    const Numbers f = numbers(solver.size());
    Numbers found(f.size()), expected(f.size());
    EXPECT_TRUE(solver.solve(f, found).converged());
    EXPECT_TRUE(fresh.solve(f, expected).converged());
    EXPECT_EQ(found, expected);
    // Those that ask for another cycle get it.
    jump = 1000.;
    solver.update_coefficients();
    Solver jumping(problem, options, on("cuda"));
    EXPECT_TRUE(solver.solve(f, found).converged());
    EXPECT_TRUE(jumping.solve(f, expected).converged());
    EXPECT_EQ(found, expected);
  }

  /// Geometrically graded corners in each direction, but for those of a periodic one.
  void grade(Problem &problem, double ratio)
  {
    for (int d = 0; d < problem.dim; ++d)
      if (problem.boundary[2 * d] != BoundaryKind::periodic)
        problem.corners[d] = geometric_corners(0., 1., problem.cells(d), ratio, FineEnd::both);
  }

  TEST_F(CellwiseSolverOnDevice, SolvesWithVertices)
  {
    for (const int dim : {2, 3})
      for (const Precision precision : precisions(dim))
      {
        Problem problem = box(dim, dim == 3 ? 2 : 3);
        problem.cell_coefficient[0] = "x < 0.5 ? 100 : 1";
        compare(problem, precision, precision == Precision::half_precision ? 2 : 1);
      }
  }

  TEST_F(CellwiseSolverOnDevice, SolvesSingularProblemsWithVertices)
  {
    Problem problem = box(2, 2);
    problem.reaction.clear();
    problem.boundary.fill(BoundaryKind::neumann);
    problem.cell_coefficient[0] = "x < 0.5 && y < 0.5 ? 100 : 1";
    compare(problem, Precision::single_precision, 1);
    compare(problem, Precision::half_precision, 2);
  }

  TEST_F(CellwiseSolverOnDevice, SolvesWithOnePeriodicCell)
  {
    Problem problem = box(3, 1);
    problem.coarse_cells = {8, 8, 1};
    problem.refinements = 0;
    problem.boundary[4] = problem.boundary[5] = BoundaryKind::periodic;
    problem.cell_coefficient[0] = "x < 0.5 ? 100 : 1";
    compare(problem, Precision::single_precision, 1);
  }

  TEST_F(CellwiseSolverOnDevice, SolvesOnGradedCells)
  {
    for (const int dim : {2, 3})
      for (const double ratio : {3., 1000.})
      {
        if (test::has_few_cases() && dim == 3)
          continue;
        Problem problem = box(dim, dim == 3 ? 2 : 3);
        grade(problem, ratio);
        compare(problem, Precision::single_precision, 1);
      }
    // Without a side that holds the solution, whose mean is over cells of different volumes.
    Problem problem = box(2, 2);
    problem.reaction.clear();
    problem.boundary.fill(BoundaryKind::neumann);
    grade(problem, 100.);
    compare(problem, Precision::single_precision, 1);
  }
} // namespace
} // namespace tensormg
