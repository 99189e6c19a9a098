// Solves with coefficients of the cells: iterations, whatever jumps; exact solutions; several ranks.
// ranks: 1 2 4
#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/cellwise/cell_coefficients.h"
#include "operators/cellwise/vertex_amg.h"
#include "operators/multigrid/coarsening_choice.h"
#include "tensormg/mpi.h"
#include "tensormg/solver.h"

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

  enum class Kind
  {
    checkerboard,
    soft,
    stiff,
    random,
    layers,
    blocks
  };

  double random_of_cell(std::int64_t i, std::int64_t j, std::int64_t k)
  {
    std::uint64_t h = static_cast<std::uint64_t>((k * 1000 + j) * 1000 + i) + 1;
    for (const std::uint64_t factor :
        {0x9E3779B97F4A7C15u, 0xBF58476D1CE4E5B9u, 0x94D049BB133111EBu})
    {
      h ^= h >> 31;
      h *= factor;
    }
    return static_cast<double>(h >> 11) * 0x1p-53;
  }

  Problem with_coefficients(int dim, int degree, int refinements, Kind kind, double contrast)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = degree;
    problem.refinements = refinements;
    problem.cell_coefficient[0] = "k";
    problem.functions["k"] = [=](std::size_t count, const double *x, const double *y,
                                 const double *z, double *values) {
      const std::int64_t n = std::int64_t(1) << refinements;
      for (std::size_t q = 0; q < count; ++q)
      {
        const auto of = [&](double at) {
          return static_cast<std::int64_t>(at * static_cast<double>(n));
        };
        const std::int64_t i = of(x[q]), j = of(y[q]), k = dim == 3 ? of(z[q]) : 0;
        const double random = random_of_cell(i, j, k);
        const bool odd = kind == Kind::layers ? j % 2 == 1
            : kind == Kind::blocks            ? (4 * i / n + 4 * j / n + 4 * k / n) % 2 == 1
            : kind == Kind::checkerboard      ? (i + j + k) % 2 == 1
            : kind == Kind::soft              ? random >= 0.2
                                              : random < 0.2;
        values[q] = kind == Kind::random ? std::pow(contrast, random) : odd ? contrast : 1.;
      }
    };
    return problem;
  }

  int iterations(const Problem &problem, const SolverOptions &options = {})
  {
    Solver solver(problem, options, everybody());
    Numbers f(static_cast<std::size_t>(solver.size())), u(f.size());
    std::mt19937 generator(
        static_cast<unsigned>(solver.cells().begin[1] * 100 + solver.cells().begin[2]));
    std::uniform_real_distribution<double> distribution(-1., 1.);
    for (double &number : f)
      number = distribution(generator);
    const SolveReport report = solver.solve(f, u);
    EXPECT_TRUE(report.converged()) << report.detail;
    return report.iterations;
  }

  SolverOptions with_vertices()
  {
    SolverOptions options;
    options.multigrid.coarsening = Coarsening::vertices;
    return options;
  }

  TEST(Coefficients, ProductsAreSolvedAtOnce)
  {
    for (const int degree : {1, 3})
      for (const double contrast : {1e2, 1e6})
        for (const int dim : {2, 3})
          EXPECT_LE(iterations(with_coefficients(dim, degree, 6 - dim, Kind::layers, contrast)), 3);
  }

  // Without jumps, and with jumps of any size.
  TEST(Coefficients, FewIterationsWhateverTheContrast)
  {
    for (const int degree : {1, 2, 3})
      for (const double contrast : {1e2, 1e4, 1e6})
      {
        SCOPED_TRACE(testing::Message() << "degree " << degree << " contrast " << contrast);
        for (const Kind kind :
            {Kind::checkerboard, Kind::soft, Kind::stiff, Kind::random, Kind::layers, Kind::blocks})
        {
          SCOPED_TRACE(static_cast<int>(kind));
          EXPECT_LE(
              iterations(with_coefficients(2, degree, 4, kind, contrast), with_vertices()), 18);
          if (kind != Kind::stiff || VertexAmg::is_available())
          {
            EXPECT_LE(
                iterations(with_coefficients(3, degree, 3, kind, contrast), with_vertices()), 18);
          }
        }
      }
  }

  // The bits of a new solver, also where other numbers ask for another cycle; refused ones change nothing.
  TEST(Coefficients, UpdatedOnesAreThoseOfANewSolver)
  {
    for (const double contrast : {1.5, 1e4})
      for (const Precision precision : {Precision::double_precision, Precision::half_precision})
      {
        SCOPED_TRACE(testing::Message() << contrast << ' ' << to_string(precision));
        Problem problem = with_coefficients(2, 2, 4, Kind::random, contrast);
        const Function final_k = problem.functions["k"];
        double scale = -1.; // > 0: K = scale everywhere
        problem.functions["k"] = [&scale, final_k](std::size_t n, const double *x, const double *y,
                                     const double *z, double *values) {
          final_k(n, x, y, z, values);
          if (scale > 0. || scale == -2.)
            std::fill_n(values, n, scale);
        };
        problem.reaction = "c";
        problem.functions["c"] = [&scale](std::size_t n, const double *, const double *,
                                     const double *, double *values) {
          std::fill_n(values, n, scale > 0. ? 7. : 3.);
        };
        SolverOptions options;
        options.multigrid.precision = precision;
        Solver fresh(problem, options, everybody());
        Numbers expected(static_cast<std::size_t>(fresh.size())), u(expected.size());
        const SolveReport report = fresh.solve(expected);
        scale = 5e3;
        Solver solver(problem, options, everybody());
        EXPECT_TRUE(solver.solve(u).converged());
        scale = -2.;
        EXPECT_THROW(solver.update_coefficients(), ArgumentError);
        EXPECT_TRUE(solver.solve(u).converged());
        scale = -1.;
        solver.update_coefficients();
        EXPECT_EQ(solver.solve(u).iterations, report.iterations);
        EXPECT_EQ(u, expected);
      }
  }

  // Of 16^3 cells, where there are many stiff ones that meet in a corner.
  TEST(Coefficients, StiffCellsThatMeetInCorners)
  {
    if (!VertexAmg::is_available())
      GTEST_SKIP() << "deal.II has been built without Trilinos";
    for (const int degree : {1, 2})
      for (const double contrast : {1e2, 1e4, 1e6})
        EXPECT_LE(iterations(with_coefficients(3, degree, 4, Kind::stiff, contrast)), 18);
    // Without a Dirichlet side, and where the box goes on.
    Problem problem = with_coefficients(3, 1, 4, Kind::stiff, 1e4);
    problem.boundary.fill(BoundaryKind::neumann);
    EXPECT_LE(iterations(problem), 18);
    problem.boundary.fill(BoundaryKind::periodic);
    EXPECT_LE(iterations(problem), 18);
  }

  TEST(Coefficients, WithoutDirichletSides)
  {
    for (const bool periodic : {false, true})
      for (const OuterSolver method : {OuterSolver::fgmres, OuterSolver::cg})
        for (const double jump : {10., 1e4})
        {
          Problem problem;
          problem.dim = 2;
          problem.boundary.fill(BoundaryKind::neumann);
          if (periodic)
            problem.boundary[0] = problem.boundary[1] = BoundaryKind::periodic;
          problem.cell_coefficient[0] = "if(y<0.5,1," + std::to_string(jump) + ")";
          SolverOptions options;
          options.solver = method;
          EXPECT_LE(iterations(problem, options), 12);
        }
  }

  // What a function throws on one process, all throw.
  TEST(Coefficients, FunctionsThatThrow)
  {
    int rank = 0, n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    bool throws = false;
    Problem problem = with_coefficients(2, 1, 4, Kind::random, 10.);
    problem.functions["k"] = [&, k = problem.functions["k"]](std::size_t n, const double *x,
                                 const double *y, const double *z, double *values) {
      if (throws && rank == n_ranks - 1)
        throw std::runtime_error("no number");
      k(n, x, y, z, values);
    };
    Solver solver(problem, {}, everybody());
    throws = true;
    EXPECT_THROW(solver.update_coefficients(), std::runtime_error);
    EXPECT_THROW(Solver(problem, {}, everybody()), std::runtime_error);
    throws = false;
    Numbers u(static_cast<std::size_t>(solver.size()));
    EXPECT_TRUE(solver.solve(u).converged());
  }

  /// Neighbours differ by 2.6 at most, the ends of the box by 1e26: coarse levels of cells do not see that. No product.
  Problem slow_for_cells()
  {
    Problem problem;
    problem.dim = 2;
    problem.degree = 2;
    problem.refinements = 6;
    problem.cell_coefficient[0] = "exp(60*x)*(1+0.1*x*y)";
    problem.coefficient_in_cell = InCell::mean;
    return problem;
  }

  TEST(Coefficients, SlowCyclesAreChangedOnTheWay)
  {
    const Problem problem = slow_for_cells();
    for (const OuterSolver method : {OuterSolver::fgmres, OuterSolver::cg})
    {
      SolverOptions options;
      options.solver = method;
      options.max_iterations = 200;
      options.multigrid.coarsening = Coarsening::cells;
      Execution execution = everybody();
      std::vector<double> seen;
      execution.iteration_callback = [&](int k, double residual) {
        EXPECT_EQ(k, static_cast<int>(seen.size()));
        seen.push_back(residual);
      };
      Solver slow(problem, options, execution);
      Numbers expected(static_cast<std::size_t>(slow.size())), u(expected.size());
      const SolveReport all = slow.solve(expected);
      EXPECT_TRUE(all.converged());
      EXPECT_GT(all.iterations, method == OuterSolver::cg ? 25 : 40);
      EXPECT_EQ(all.cycle_change, "");

      seen.clear();
      options.multigrid.coarsening = Coarsening::automatic;
      Solver solver(problem, options, execution);
      const SolveReport report = solver.solve(u);
      EXPECT_TRUE(report.converged()) << report.detail;
      EXPECT_LE(report.iterations, 20);
      EXPECT_NE(report.cycle_change.find("multigrid.coarsening = vertices"), std::string::npos)
          << report.cycle_change;
      ASSERT_EQ(report.residuals.size(), static_cast<std::size_t>(report.iterations) + 1);
      EXPECT_EQ(seen.size(), report.residuals.size());
      double largest = 0., difference = 0.;
      for (std::size_t i = 0; i < u.size(); ++i)
      {
        largest = std::max(largest, std::abs(expected[i]));
        difference = std::max(difference, std::abs(u[i] - expected[i]));
      }
      EXPECT_LT(difference, 1e-5 * largest);
      // The solver stays with what it has found.
      seen.clear();
      const SolveReport again = solver.solve(u);
      EXPECT_LT(again.iterations, report.iterations);
      EXPECT_EQ(again.cycle_change, "");
    }
  }

  // Of a product the whole grid comes first.
  TEST(Coefficients, SlowCyclesBecomeFastDiagonalisation)
  {
    Problem problem = slow_for_cells();
    problem.cell_coefficient[0] = "exp(60*x)";
    Solver solver(problem, {}, everybody());
    Numbers u(static_cast<std::size_t>(solver.size()));
    const SolveReport report = solver.solve(u);
    EXPECT_TRUE(report.converged()) << report.detail;
    EXPECT_LE(report.iterations, 11);
    EXPECT_NE(
        report.cycle_change.find("multigrid.coarsening = fast_diagonalisation"), std::string::npos)
        << report.cycle_change;
    EXPECT_LE(solver.solve(u).iterations, 3);

    Grid grid = make_grid(problem, MPI_COMM_WORLD);
    add_cell_coefficients(grid, make_cell_basis(2));
    MultigridOptions options;
    options.precision = Precision::half_precision;
    options = *next_cycle(grid, options, true);
    EXPECT_EQ(options.coarsening, Coarsening::fast_diagonalisation);
    EXPECT_EQ(options.precision, Precision::double_precision);
    options = *next_cycle(grid, options, true);
    EXPECT_EQ(options.coarsening, Coarsening::vertices);
  }

  // A cycle that has become fast diagonalisation, and one that has begun so, where new coefficients are no product any more, and back.
  TEST(Coefficients, ProductsComeAndGo)
  {
    for (const double jump : {1., 1e3})
    {
      double mixed = 0.;
      Problem problem = slow_for_cells();
      problem.cell_coefficient[0] = "k";
      problem.functions["k"] = [&](std::size_t n, const double *x, const double *y, const double *,
                                   double *values) {
        for (std::size_t i = 0; i < n; ++i)
          values[i] = std::exp(60. * x[i]) * (y[i] < 0.5 ? jump : 1.) * (1. + mixed * x[i] * y[i]);
      };
      Solver solver(problem, {}, everybody());
      Numbers u(static_cast<std::size_t>(solver.size()));
      for (const double now : {0., 0.1, 0.})
      {
        mixed = now;
        solver.update_coefficients();
        const SolveReport report = solver.solve(u);
        EXPECT_TRUE(report.converged()) << report.detail;
        EXPECT_LE(report.iterations, now == 0. ? 11 : 30) << jump << ' ' << now;
      }
    }
    // Named, it is refused and the old coefficients stay.
    Problem problem = with_coefficients(2, 2, 3, Kind::layers, 10.);
    const Function layers = problem.functions["k"];
    bool is_product = true;
    problem.functions["k"] = [&](std::size_t n, const double *x, const double *y, const double *z,
                                 double *values) {
      layers(n, x, y, z, values);
      for (std::size_t i = 0; !is_product && i < n; ++i)
        values[i] += x[i] < 0.5 ? 1. : 0.;
    };
    SolverOptions options;
    options.multigrid.coarsening = Coarsening::fast_diagonalisation;
    Solver solver(problem, options, everybody());
    Numbers before(static_cast<std::size_t>(solver.size())), after(before.size());
    EXPECT_TRUE(solver.solve(before).converged());
    is_product = false;
    EXPECT_THROW(solver.update_coefficients(), ArgumentError);
    EXPECT_TRUE(solver.solve(after).converged());
    EXPECT_EQ(before, after);
  }

  // The limit counts the iterations of both cycles.
  TEST(Coefficients, TheLimitIsThatOfAllCycles)
  {
    const Problem problem = slow_for_cells();
    SolverOptions options;
    options.max_iterations = 13;
    Solver solver(problem, options, everybody());
    Numbers u(static_cast<std::size_t>(solver.size()));
    const SolveReport report = solver.solve(u);
    EXPECT_EQ(report.reason, StopReason::iteration_limit);
    EXPECT_EQ(report.iterations, 13);
    EXPECT_NE(report.detail.find("13 iterations"), std::string::npos) << report.detail;
    EXPECT_NE(report.cycle_change, "");
  }

  TEST(Coefficients, CyclesFollowOneAnother)
  {
    Grid grid = make_grid(slow_for_cells(), MPI_COMM_WORLD);
    EXPECT_FALSE(next_cycle(grid, {}, true)); // one coefficient for all, as far as the grid knows
    add_cell_coefficients(grid, make_cell_basis(2));
    MultigridOptions options;
    options.precision = Precision::half_precision;
    EXPECT_EQ(next_cycle(grid, options, false)->precision, Precision::single_precision);
    options = *next_cycle(grid, options, true);
    EXPECT_EQ(options.coarsening, Coarsening::vertices);
    EXPECT_EQ(options.precision, Precision::half_precision);
    options = *next_cycle(grid, options, true);
    EXPECT_EQ(options.precision, Precision::single_precision);
    EXPECT_FALSE(next_cycle(grid, options, false));
    options = *next_cycle(grid, options, true);
    EXPECT_EQ(options.coarsening, Coarsening::vertices_and_lines);
    EXPECT_FALSE(next_cycle(grid, options, true));
  }

  TEST(Coefficients, LinesInEveryDirection)
  {
    SolverOptions options;
    options.multigrid.coarsening = Coarsening::vertices_and_lines;
    for (const int dim : {2, 3})
      EXPECT_LE(iterations(with_coefficients(dim, 2, 6 - dim, Kind::random, 1e4), options), 18);
  }

  TEST(Coefficients, ConjugateGradientsTakeTheSameCycle)
  {
    SolverOptions options;
    options.solver = OuterSolver::cg;
    EXPECT_LE(iterations(with_coefficients(3, 2, 3, Kind::random, 1e4), options), 22);
  }

  TEST(Coefficients, SmoothOnesAreAsEasyAsConstants)
  {
    for (const int dim : {2, 3})
      for (const int degree : {1, 2, 3, 4})
      {
        Problem problem;
        problem.dim = dim;
        problem.degree = degree;
        problem.refinements = dim == 2 ? 4 : 3;
        problem.cell_coefficient[0] = "1+0.5*sin(6*x)*cos(4*y)";
        problem.coefficient_in_cell = InCell::mean;
        EXPECT_LE(iterations(problem), 9);
        problem.reaction = "1e3";
        EXPECT_LE(iterations(problem), 9);
      }
  }

  // Lines end where the cells of another rank begin.
  TEST(Coefficients, TensorsAndStretchedCells)
  {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int most = ranks == 1 ? 12 : 26;
    for (const int degree : {1, 3})
    {
      Problem problem;
      problem.dim = 3;
      problem.degree = degree;
      problem.refinements = 3;
      problem.cell_coefficient = {"1", "100", "1e4"};
      EXPECT_LE(iterations(problem), most);
      problem.cell_coefficient = {"if(x<0.5,1,2)", "", ""};
      problem.upper = {1., 30., 1000.};
      EXPECT_LE(iterations(problem), most);
    }
  }

  // Piecewise linear across layers, which elements hold exactly; the flux is the same in all of them.
  TEST(Coefficients, LayersHaveTheirExactSolution)
  {
    for (const int degree : {1, 2, 4})
      for (const double scale : {1e-12, 1., 1e12})
      {
        Problem problem;
        problem.dim = 2;
        problem.degree = degree;
        problem.refinements = 3;
        problem.upper[0] = 3.;
        problem.coarse_cells[0] = 3;
        problem.right_hand_side = "0";
        problem.boundary = {BoundaryKind::dirichlet, BoundaryKind::dirichlet, BoundaryKind::neumann,
            BoundaryKind::neumann, BoundaryKind::neumann, BoundaryKind::neumann};
        problem.constants["s"] = scale;
        problem.cell_coefficient[0] = "s*if(x<1,1,if(x<2,1000,0.1))";
        problem.boundary_value[1] = "1";
        SolverOptions options;
        options.tolerance = 1e-12;
        Solver solver(problem, options, everybody());
        Numbers u(static_cast<std::size_t>(solver.size())), x(u.size()), y(u.size());
        ASSERT_TRUE(solver.solve(u).converged());
        solver.coordinates(x, y, {});
        const double resistance = 1. + 1e-3 + 10.;
        for (std::size_t i = 0; i < u.size(); ++i)
        {
          const double here = x[i] < 1. ? x[i]
              : x[i] < 2.               ? 1. + 1e-3 * (x[i] - 1.)
                                        : 1. + 1e-3 + 10. * (x[i] - 2.);
          EXPECT_NEAR(u[i], here / resistance, 1e-8);
        }
      }
  }

  TEST(Coefficients, EqualOnesAreThoseOfTheWholeBox)
  {
    for (const int dim : {2, 3})
    {
      Problem problem;
      problem.dim = dim;
      problem.degree = 3;
      problem.refinements = 3;
      problem.boundary[1] = BoundaryKind::neumann;
      problem.boundary_value = {"y", "x*y", "1", "x", "0", "2"};
      problem.coefficient = 4.;
      Problem same = problem;
      same.cell_coefficient[0] = "4";
      SolverOptions options;
      options.tolerance = 1e-12;
      Solver expected(problem, options, everybody()), found(same, options, everybody());
      Numbers u(static_cast<std::size_t>(expected.size())), v(u.size());
      ASSERT_TRUE(expected.solve(u).converged());
      ASSERT_TRUE(found.solve(v).converged());
      for (std::size_t i = 0; i < u.size(); ++i)
        EXPECT_NEAR(u[i], v[i], 1e-9);
    }
  }

  TEST(Coefficients, SingularWithoutReactionOnly)
  {
    Problem problem = with_coefficients(2, 2, 4, Kind::random, 1e3);
    problem.boundary.fill(BoundaryKind::neumann);
    EXPECT_LE(iterations(problem), 18);
    problem.reaction = "2";
    problem.right_hand_side = "4";
    Solver solver(problem, {}, everybody());
    Numbers u(static_cast<std::size_t>(solver.size()));
    ASSERT_TRUE(solver.solve(u).converged());
    for (const double value : u)
      EXPECT_NEAR(value, 2., 1e-6);
  }

  TEST(Coefficients, WhatDoesNotExistIsRefused)
  {
    const Problem problem = with_coefficients(2, 2, 3, Kind::random, 10.);
    SolverOptions options;
    options.solver = OuterSolver::direct;
    EXPECT_THROW(Solver(problem, options, everybody()), ArgumentError);
    options = {};
    options.multigrid.smoother = Smoother::patch;
    EXPECT_THROW(Solver(problem, options, everybody()), ArgumentError);
    Execution device = everybody();
    device.backend = "cuda";
    EXPECT_THROW(Solver(problem, {}, device), ArgumentError);
  }
} // namespace
} // namespace tensormg
