// The library with Robin sides: exact solutions, order, iterations, limits, values of sides, what is refused.
// ranks: 1 2 4
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tensormg/mpi.h"
#include "tensormg/solver.h"

namespace tensormg
{
namespace
{
  using Numbers = std::vector<double>;
  using Exact = std::function<double(double, double, double)>;

  Execution everybody()
  {
    Execution execution;
    execution.backend = "cpu";
    execution.communicator = communicator(MPI_COMM_WORLD);
    return execution;
  }

  SolverOptions accurate()
  {
    SolverOptions options;
    options.tolerance = 1e-12;
    return options;
  }

  Problem box(int dim, int degree, int refinements)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = degree;
    problem.refinements = refinements;
    problem.lower = {-0.5, 0., 0.25};
    problem.upper = {0.5, 1.25, 1.};
    return problem;
  }

  double largest(double mine)
  {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return mine;
  }

  Numbers solution(const Problem &problem, const SolverOptions &options = accurate())
  {
    Solver solver(problem, options, everybody());
    Numbers u(static_cast<std::size_t>(solver.size()));
    const SolveReport report = solver.solve(u);
    EXPECT_TRUE(report.converged() || report.is_rounding) << report.detail;
    return u;
  }

  double largest_difference(const Numbers &a, const Numbers &b)
  {
    double difference = 0.;
    for (std::size_t i = 0; i < a.size(); ++i)
      difference = std::max(difference, std::abs(a[i] - b[i]));
    return largest(difference);
  }

  /// At the nodes.
  double error(const Problem &problem, const Exact &exact)
  {
    const Numbers u = solution(problem);
    const Solver solver(problem, {}, everybody());
    Numbers x(u.size()), y(u.size()), z(u.size()), expected(u.size());
    solver.coordinates(x, y, z);
    for (std::size_t i = 0; i < u.size(); ++i)
      expected[i] = exact(x[i], y[i], z[i]);
    return largest_difference(u, expected);
  }

  // Along each direction, with the Robin side at each end, K = 2 and r = 3.
  TEST(Robin, PolynomialsAreExact)
  {
    for (const int dim : {2, 3})
      for (const int degree : {1, 2, 3})
        for (int side = 0; side < 2 * dim; ++side)
          for (const bool in_cells : {false, true})
          {
            SCOPED_TRACE(testing::Message() << dim << "D degree " << degree << " side " << side);
            Problem problem = box(dim, degree, 2);
            const int d = side / 2;
            const double end = side % 2 == 0 ? problem.lower[d] : problem.upper[d];
            const double curved = degree == 1 ? 0. : 1., outwards = side % 2 == 0 ? -1. : 1.;
            const auto u = [&](double t) { return 1. + 2. * t - curved * t * t; };
            problem.coefficient = 2.;
            if (in_cells)
              problem.cell_coefficient = {"2", "2", dim == 3 ? "2" : ""};
            problem.right_hand_side = std::to_string(4. * curved);
            problem.boundary.fill(BoundaryKind::neumann);
            problem.boundary[side] = BoundaryKind::robin;
            problem.robin_coefficient[side] = "3";
            problem.constants = {{"q", outwards * 2. * (2. - 2. * curved * end) + 3. * u(end)}};
            problem.boundary_value[side] = "q";
            problem.boundary[side ^ 1] = BoundaryKind::dirichlet;
            const std::string t(1, "xyz"[d]);
            problem.boundary_value[side ^ 1] = "1+2*" + t + (degree == 1 ? "" : "-" + t + "*" + t);
            EXPECT_LT(error(problem,
                          [&](double x, double y, double z) {
                            return u(d == 0 ? x : d == 1 ? y : z);
                          }),
                1e-10);
          }
  }

  // r = 0 on one side, which then is a Neumann side; no side holds the solution but by r.
  Problem manufactured(int dim, int degree, int refinements)
  {
    Problem problem = box(dim, degree, refinements);
    problem.boundary.fill(BoundaryKind::robin);
    problem.robin_coefficient = {"2", "0.5", "0", "3", "1", "7"};
    const std::string u = dim == 2 ? "sin(2*x+0.3)*cos(3*y)" : "sin(2*x+0.3)*cos(3*y)*exp(z)",
                      tail = dim == 2 ? "" : "*exp(z)";
    const std::string gradient[] = {
        "2*cos(2*x+0.3)*cos(3*y)" + tail, "(-3)*sin(2*x+0.3)*sin(3*y)" + tail, u};
    problem.coefficient = 1.5;
    problem.right_hand_side = (dim == 2 ? "1.5*13*" : "1.5*12*") + u;
    for (int side = 0; side < 2 * dim; ++side)
      problem.boundary_value[side] = std::string(side % 2 == 0 ? "-" : "") + "1.5*" +
          gradient[side / 2] + "+" + problem.robin_coefficient[side] + "*" + u;
    return problem;
  }

  TEST(Robin, ErrorsHaveTheOrderOfTheElements)
  {
    for (const int dim : {2, 3})
      for (const int degree : {1, 2, 3, 4})
      {
        const Exact exact = [dim](double x, double y, double z) {
          return std::sin(2. * x + 0.3) * std::cos(3. * y) * (dim == 2 ? 1. : std::exp(z));
        };
        const int coarse = dim == 2 || degree <= 2 ? 3 : 2;
        const double first = error(manufactured(dim, degree, coarse), exact),
                     second = error(manufactured(dim, degree, coarse + 1), exact);
        EXPECT_GT(std::log2(first / second), degree + 0.7)
            << dim << "D degree " << degree << ": " << first << ", " << second;
      }
  }

  int iterations(const Problem &problem, const SolverOptions &options = {})
  {
    Solver solver(problem, options, everybody());
    Numbers u(static_cast<std::size_t>(solver.size()));
    const SolveReport report = solver.solve(u);
    EXPECT_TRUE(report.converged()) << report.detail;
    return report.iterations;
  }

  Problem all_robin(int dim, int degree, const std::string &r)
  {
    Problem problem = box(dim, degree, dim == 2 ? 5 : 3);
    problem.boundary.fill(BoundaryKind::robin);
    problem.robin_coefficient.fill(r);
    const char *const outside[] = {"x", "1", "y", "0", "2", "1"};
    for (std::size_t side = 0; side < 6; ++side)
      problem.boundary_value[side] = "(" + r + ")*(" + outside[side] + ")";
    problem.right_hand_side = "sin(2*pi*x)*cos(7*y)"; // of mean zero: u is no larger for a small r
    return problem;
  }

  TEST(Robin, FewIterationsWhateverTheCoefficient)
  {
    for (const int dim : {2, 3})
      for (const int degree : {1, 2, 3, 4})
      {
        std::string counts;
        int most = 0;
        for (const char *r : {"1e-6", "1e-3", "0.1", "1", "10", "100", "1e3", "1e4", "1e6", "1e9"})
        {
          const int count = iterations(all_robin(dim, degree, r));
          counts += ' ' + std::to_string(count);
          most = std::max(most, count);
        }
        EXPECT_LE(most, degree == 4 ? 11 : 9) << dim << "D degree " << degree << ':' << counts;
      }
  }

  TEST(Robin, UnitsDoNotMatter)
  {
    for (const int degree : {1, 3})
    {
      Problem problem = all_robin(2, degree, "s*if(y<0.625,1,30)");
      problem.right_hand_side = "s*" + problem.right_hand_side;
      const auto scaled = [&](double scale) {
        problem.constants["s"] = scale;
        problem.coefficient = scale;
        return problem;
      };
      const Numbers expected = solution(scaled(1.));
      const int count = iterations(scaled(1.));
      for (const double scale : {1e-12, 1e12})
      {
        EXPECT_LT(largest_difference(solution(scaled(scale)), expected), 1e-9);
        EXPECT_EQ(iterations(scaled(scale)), count);
      }
    }
  }

  TEST(Robin, LargeCoefficientsTendToDirichlet)
  {
    Problem dirichlet = all_robin(2, 3, "r");
    dirichlet.constants["r"] = 1.;
    dirichlet.boundary_value.fill("1+x*y");
    Problem robin = dirichlet;
    dirichlet.boundary.fill(BoundaryKind::dirichlet);
    robin.boundary_value.fill("r*(1+x*y)");
    const Numbers expected = solution(dirichlet);
    double before = 0.;
    for (const double r : {1e2, 1e3, 1e4})
    {
      robin.constants["r"] = r;
      const double now = largest_difference(solution(robin), expected);
      if (r > 1e2)
      {
        EXPECT_NEAR(before / now, 10., 2.);
      }
      before = now;
    }
  }

  TEST(Robin, ValuesOfSidesTakeThePlaceOfTheExpression)
  {
    const Problem problem = all_robin(3, 2, "2");
    Problem other = problem;
    other.boundary_value[2] = "5";
    other.boundary_value[5] = "x+2*y";
    const Numbers expected = solution(other);
    Solver solver(problem, accurate(), everybody());
    for (const int side : {2, 5})
    {
      Numbers x(static_cast<std::size_t>(solver.side_size(side))), y(x.size()), z(x.size()),
          values(x.size());
      solver.side_coordinates(side, x, y, z);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = side == 2 ? 5. : x[i] + 2. * y[i];
      solver.set_side_values(side, values);
    }
    Numbers u(expected.size());
    ASSERT_TRUE(solver.solve(u).converged());
    EXPECT_LT(largest_difference(u, expected), 1e-9);
  }

  void expect_refused(const std::string &text, const std::function<void(Problem &)> &change,
      const SolverOptions &options = {}, const std::string &backend = "cpu")
  {
    Problem problem = all_robin(2, 2, "1");
    change(problem);
    try
    {
      Execution execution = everybody();
      execution.backend = backend;
      const Solver solver(problem, options, execution);
      ADD_FAILURE() << "no error; expected: " << text;
    }
    catch (const ArgumentError &error)
    {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  }

  TEST(Robin, WhatIsRefused)
  {
    const auto right = [](const char *r) {
      return [r](Problem &p) { p.robin_coefficient[1] = r; };
    };
    expect_refused("boundary.right_robin_coefficient = '-1' is -1, allowed: >= 0", right("-1"));
    expect_refused(
        "boundary.right_robin_coefficient = '0/0' is infinite or not a number", right("0/0"));
    expect_refused("boundary.right_robin_coefficient = '1+y'", right("1+y"));
    expect_refused("boundary.right_robin_coefficient = 'none' cannot be parsed", right("none"));
    expect_refused("is zero on all faces", [](Problem &p) { p.robin_coefficient.fill("0"); });
    const auto same = [](Problem &) {};
    SolverOptions direct, patch;
    direct.solver = OuterSolver::direct;
    patch.multigrid.smoother = Smoother::patch;
    expect_refused("options.solver = direct for Robin sides", same, direct);
    expect_refused("smoother = patch for Robin sides", same, patch);
    expect_refused("", same, {}, "cuda");
  }
} // namespace
} // namespace tensormg
