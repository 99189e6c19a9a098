// Coefficients of the cells, reaction and Robin sides on a GPU: the iterations and solutions of the host, coarsest levels that are dense
// and that are not, singular problems, new coefficients; what is not there is refused.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "tensormg/solver.h"
#include "tests/operators/solver/on_backend.h"

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
      for (const Precision precision :
          {Precision::double_precision, Precision::single_precision, Precision::half_precision})
        compare(box(dim, dim == 3 ? 2 : 3), precision, 1);
  }

  TEST_F(CellwiseSolverOnDevice, SolvesLargeCoarsestLevels)
  {
    Problem problem = box(2, 2);
    problem.coarse_cells = {13, 13, 1}; // 1521 unknowns
    problem.refinements = 1;
    compare(problem, Precision::single_precision, 1);
    // One side holds what conducts better and better away from it: the least eigenvalue is far below that of one coefficient.
    problem.reaction.clear();
    problem.cell_coefficient[0] = "exp(4*x)";
    problem.boundary.fill(BoundaryKind::neumann);
    problem.boundary[0] = BoundaryKind::dirichlet;
    compare(problem, Precision::single_precision, 1);
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
    // Those that ask for what the device lacks change nothing.
    jump = 1000.;
    EXPECT_THROW(solver.update_coefficients(), ArgumentError);
    EXPECT_TRUE(solver.solve(f, found).converged());
    EXPECT_EQ(found, expected);
  }

  TEST_F(CellwiseSolverOnDevice, RefusesTheCycleOfVertices)
  {
    Problem problem = box(2, 2);
    problem.cell_coefficient[0] = "x < 0.5 ? 1000 : 1";
    EXPECT_EQ(Solver(problem, {}, on("auto")).backend(), "cpu");
    try
    {
      const Solver solver(problem, {}, on("cuda"));
      FAIL();
    }
    catch (const std::invalid_argument &error)
    {
      EXPECT_NE(std::string(error.what()).find("the cycle of vertices"), std::string::npos)
          << error.what();
    }
  }
} // namespace
} // namespace tensormg
