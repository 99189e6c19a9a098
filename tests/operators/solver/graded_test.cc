// The library with graded cells: exact and manufactured solutions, iterations, integrals, what is refused.
// ranks: 1 2
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tensormg/graded.h"
#include "tensormg/mpi.h"
#include "tensormg/solver.h"
#include "tensormg/voxels.h"

namespace tensormg
{
namespace
{
  using Numbers = std::vector<double>;

  Execution everybody()
  {
    Execution execution;
    execution.backend = "cpu";
    execution.communicator = communicator(MPI_COMM_WORLD);
    return execution;
  }

  int n_ranks()
  {
    int count = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    return count;
  }

  /// 2^refinements cells per direction, the largest of which are `ratio` times as large as the smallest in the first directions.
  Problem graded(int dim, int degree, int refinements, double ratio, int directions)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = degree;
    problem.refinements = refinements;
    const std::array<FineEnd, 3> ends{FineEnd::both, FineEnd::lower, FineEnd::upper};
    // The last directions first: lines in y and z end where another rank begins.
    for (int d = 0; d < directions; ++d)
      problem.corners[d] = geometric_corners(0., 1., problem.cells(d), ratio, ends[d]);
    return problem;
  }

  SolveReport solve_random(const Problem &problem, const SolverOptions &options = {})
  {
    Solver solver(problem, options, everybody());
    Numbers b(static_cast<std::size_t>(solver.size())), u(b.size());
    std::mt19937 generator(
        static_cast<unsigned>(solver.cells().begin[1] * 100 + solver.cells().begin[2]));
    std::uniform_real_distribution<double> distribution(-1., 1.);
    for (double &number : b)
      number = distribution(generator);
    SolveReport report = solver.solve_system(b, u);
    EXPECT_TRUE(report.converged()) << report.detail;
    return report;
  }

  SolverOptions with_vertices()
  {
    SolverOptions options;
    options.multigrid.coarsening = Coarsening::vertices;
    return options;
  }

  // Fast diagonalisation, whatever numbers are asked for, and whatever holds the solution.
  TEST(Graded, OneCoefficientIsSolvedAtOnce)
  {
    for (const int dim : {2, 3})
      for (const int degree : {1, 2, 3, 4})
        for (const Precision precision : {Precision::automatic, Precision::half_precision})
          for (const bool is_held : {true, false})
          {
            SCOPED_TRACE(testing::Message() << dim << "D degree " << degree);
            Problem problem = graded(dim, degree, dim == 2 ? 5 : 3, 1000., dim);
            if (!is_held)
              problem.boundary.fill(BoundaryKind::neumann);
            SolverOptions options;
            options.multigrid.precision = precision;
            EXPECT_LE(solve_random(problem, options).iterations, 2);
            options.solver = OuterSolver::cg;
            EXPECT_LE(solve_random(problem, options).iterations, 2);
          }
  }

  TEST(Graded, FewIterationsWhateverTheRatio)
  {
    const int most = n_ranks() == 1 ? 12 : 26;
    for (const int dim : {2, 3})
      for (int degree = 1; degree <= (dim == 2 ? 4 : 3); ++degree)
        for (const double ratio : {10., 1000.})
          for (int directions = 1; directions <= dim; ++directions)
            for (const int refinements : dim == 2 ? std::vector{3, 4, 5} : std::vector{2, 3})
            {
              SCOPED_TRACE(testing::Message()
                  << dim << "D degree " << degree << " ratio " << ratio << " directions "
                  << directions << " refinements " << refinements);
              EXPECT_LE(
                  solve_random(graded(dim, degree, refinements, ratio, directions), with_vertices())
                      .iterations,
                  most);
            }
  }

  // 16^3 cells; lines end where the cells of another rank begin.
  TEST(Graded, FewIterationsOnLargerGrids)
  {
    for (const int degree : {1, 2, 3})
      for (const int directions : {1, 3})
      {
        SCOPED_TRACE(testing::Message() << "degree " << degree << " directions " << directions);
        const int most = n_ranks() > 1 ? 26 : degree == 3 && directions == 3 ? 16 : 12;
        EXPECT_LE(solve_random(graded(3, degree, 4, 1000., directions), with_vertices()).iterations,
            most);
      }
  }

  // Stiff cells, every fifth, in a graded box.
  TEST(Graded, WithJumps)
  {
    const int most = n_ranks() == 1 ? 30 : 45;
    for (const int degree : {1, 2, 3})
    {
      Problem problem = graded(2, degree, 4, 100., 2);
      Numbers k;
      for (int cell = 0; cell < 256; ++cell)
        k.push_back((cell * 7919 + cell * cell) % 5 == 0 ? 1e4 : 1.);
      set_cell_values(problem, "k", k);
      problem.cell_coefficient[0] = "k";
      EXPECT_LE(solve_random(problem).iterations, most);
    }
  }

  double largest_error(
      const Problem &problem, const std::function<double(double, double, double)> &u)
  {
    SolverOptions options;
    options.tolerance = 1e-12; // rounding leaves little less on such cells
    Solver solver(problem, options, everybody());
    const auto size = static_cast<std::size_t>(solver.size());
    Numbers found(size), x(size), y(size), z(size);
    EXPECT_TRUE(solver.solve(found).converged());
    solver.coordinates(x, y, z);
    double largest = 0.;
    for (std::size_t i = 0; i < size; ++i)
      largest = std::max(largest, std::abs(found[i] - u(x[i], y[i], z[i])));
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest;
  }

  TEST(Graded, PolynomialsOfTheDegreeAreExact)
  {
    for (const int dim : {2, 3})
      for (const int degree : {1, 2, 3})
      {
        Problem problem = graded(dim, degree, 3, 50., dim);
        const std::string u = degree == 1 ? "x-2*y" : "x*x-2*y*y";
        problem.right_hand_side = degree == 1 ? "0" : "2";
        problem.boundary_value = {u, u, u, degree == 1 ? "-2" : "-4", u, u};
        problem.boundary[3] = BoundaryKind::neumann;
        EXPECT_LT(largest_error(problem,
                      [&](double x, double y, double) {
                        return degree == 1 ? x - 2. * y : x * x - 2. * y * y;
                      }),
            1e-9);
      }
  }

  TEST(Graded, OrderIsThatOfTheDegree)
  {
    for (const int degree : {1, 2, 3})
    {
      Numbers errors;
      for (const int refinements : {3, 4, 5})
      {
        Problem problem;
        problem.dim = 2;
        problem.degree = degree;
        problem.refinements = refinements;
        problem.corners[0] = tanh_corners(0., 1., 4, 5., FineEnd::both);
        problem.corners[1] = {0., 0.1, 0.4, 0.55, 1.};
        problem.coarse_cells = {1, 1, 1};
        problem.right_hand_side = "2*pi*pi*sin(pi*x)*sin(pi*y)";
        errors.push_back(largest_error(problem, [](double x, double y, double) {
          return std::sin(std::numbers::pi * x) * std::sin(std::numbers::pi * y);
        }));
      }
      EXPECT_GT(std::log2(errors[1] / errors[2]), degree + 0.8);
    }
  }

  TEST(Graded, WithoutDirichletSidesTheMeanIsZero)
  {
    Problem problem = graded(2, 3, 4, 100., 2);
    problem.boundary.fill(BoundaryKind::neumann);
    problem.boundary_value = {"-1", "1", "0", "0", "0", "0"};
    problem.right_hand_side = "0";
    EXPECT_LT(largest_error(problem, [](double x, double, double) { return x - 0.5; }), 1e-9);
  }

  TEST(Graded, VectorsOfTheCaller)
  {
    // f as a vector makes the same right-hand side as an expression does.
    Problem problem = graded(2, 2, 3, 20., 2);
    problem.right_hand_side = "x*x+3*y";
    Solver solver(problem, {}, everybody());
    const auto size = static_cast<std::size_t>(solver.size());
    Numbers x(size), y(size), z(size), f(size), u(size), v(size);
    solver.coordinates(x, y, z);
    for (std::size_t i = 0; i < size; ++i)
      f[i] = x[i] * x[i] + 3. * y[i];
    EXPECT_TRUE(solver.solve(u).converged());
    EXPECT_TRUE(solver.solve(f, v).converged());
    for (std::size_t i = 0; i < size; ++i)
      EXPECT_NEAR(u[i], v[i], 1e-9);
    // (A u)_i is the integral of f and the shape function of node i.
    Numbers product(size), integral(size);
    solver.multiply(u, product);
    solver.solve_system(product, v);
    for (std::size_t i = 0; i < size; ++i)
      EXPECT_NEAR(u[i], v[i], 1e-7);
  }

  TEST(Graded, ShorterNumbersTakeAsManyIterations)
  {
    for (const int directions : {1, 2})
    {
      SolverOptions options = with_vertices();
      std::vector<int> counts;
      for (const Precision precision :
          {Precision::double_precision, Precision::single_precision, Precision::half_precision})
      {
        options.multigrid.precision = precision;
        counts.push_back(solve_random(graded(3, 2, 3, 1000., directions), options).iterations);
      }
      EXPECT_LE(std::abs(counts[1] - counts[0]), 1);
      EXPECT_LE(std::abs(counts[2] - counts[0]), 4);
    }
  }

  TEST(Graded, EqualCornersAreEqualCells)
  {
    Problem equal = graded(3, 2, 2, 1., 3), none = graded(3, 2, 2, 1., 0);
    EXPECT_FALSE(equal.is_graded());
    EXPECT_FALSE(equal.is_cellwise());
    Solver a(equal, {}, everybody()), b(none, {}, everybody());
    Numbers of_a(static_cast<std::size_t>(a.size())), of_b(of_a.size());
    a.solve(of_a);
    b.solve(of_b);
    EXPECT_EQ(of_a, of_b);
  }

  void expect_refused(const std::string &text, std::vector<double> corners)
  {
    Problem problem;
    problem.dim = 2;
    problem.coarse_cells = {3, 3, 1};
    problem.refinements = 1;
    problem.corners[1] = std::move(corners);
    try
    {
      const Solver solver(problem, {}, everybody());
      ADD_FAILURE() << "no error; expected: " << text;
    }
    catch (const ArgumentError &error)
    {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  }

  TEST(Graded, WhatIsRefused)
  {
    const double nan = std::nan("");
    expect_refused(
        "problem.corners[1]: there are 3 corners; allowed: coarse_cells * 2^k + 1", {0., 0.5, 1.});
    expect_refused("there are 1 corners", {0.});
    expect_refused("corner 0.1 comes after 0.3; allowed: increasing corners", {0., 0.3, 0.1, 1.});
    expect_refused("corner 0.3 comes after 0.3", {0., 0.3, 0.3, 1.});
    expect_refused("corner nan comes after 0", {0., nan, 0.3, 1.});
    expect_refused("a cell goes from 0 to 0; allowed: cells with numbers", {0., 5e-324, 0.3, 1.});
    expect_refused("allowed: the largest at most 1e+09 times the smallest", {0., 1e-12, 0.3, 1.});
    expect_refused(
        "the corners go from 0 to 2; allowed: from lower, 0, to upper, 1", {0., 0.3, 0.5, 2.});
    EXPECT_THROW(geometric_corners(0., 1., 1, 2., FineEnd::lower), std::invalid_argument);
    EXPECT_THROW(geometric_corners(0., 1., 2, 2., FineEnd::both), std::invalid_argument);
    EXPECT_THROW(geometric_corners(0., 1., 8, 0.5, FineEnd::both), std::invalid_argument);
    EXPECT_THROW(tanh_corners(0., 1., 8, nan, FineEnd::both), std::invalid_argument);
    EXPECT_THROW(tanh_corners(1., 1., 8, 2., FineEnd::both), std::invalid_argument);
    EXPECT_THROW(tanh_corners(0., 1. / 0., 8, 2., FineEnd::both), std::invalid_argument);
    EXPECT_THROW(geometric_corners(0., 1., 1 << 23, 2., FineEnd::both), std::invalid_argument);
    Problem problem;
    problem.dim = 2;
    problem.refinements = 3;
    for (const Numbers &wrong : {Numbers{0.}, {0., 0.3, 0.5, 1.}})
    {
      problem.corners[0] = wrong;
      EXPECT_THROW(set_cell_values(problem, "k", Numbers(64, 1.)), ArgumentError);
    }
  }

  TEST(Graded, LawsHaveTheRatio)
  {
    for (const bool geometric : {true, false})
      for (const FineEnd end : {FineEnd::lower, FineEnd::upper, FineEnd::both})
        for (const std::int64_t cells : {3, 8, 33})
          for (const double ratio : {1., 7., 1e5})
          {
            const Numbers corners = geometric ? geometric_corners(-2., 5., cells, ratio, end)
                                              : tanh_corners(-2., 5., cells, ratio, end);
            ASSERT_EQ(std::ssize(corners), cells + 1);
            EXPECT_EQ(corners.front(), -2.);
            EXPECT_EQ(corners.back(), 5.);
            double least = 1e300, most = 0.;
            for (std::int64_t c = 0; c < cells; ++c)
            {
              least = std::min(least, corners[c + 1] - corners[c]);
              most = std::max(most, corners[c + 1] - corners[c]);
            }
            EXPECT_NEAR(most / least, ratio, 1e-6 * ratio);
            const double first = corners[1] - corners[0],
                         last = corners[cells] - corners[cells - 1];
            EXPECT_NEAR(end == FineEnd::upper ? last : first, least, 1e-9);
            if (end == FineEnd::both)
            {
              EXPECT_NEAR(last, first, 1e-9);
            }
          }
  }
} // namespace
} // namespace tensormg
