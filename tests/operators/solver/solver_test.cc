// The library as its callers see it: against the matrix that deal.II assembles, against an exact solution, the same bits again,
// and what it refuses.
// ranks: 1 2
#include "tensormg/solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/vectors/nodal_map.h"
#include "tensormg/mpi.h"
#include "tests/support/sipg_oracle.h"

namespace tensormg
{
namespace
{
  constexpr double pi = std::numbers::pi;
  using Numbers = std::vector<double>;

  Execution everybody(Nodes nodes = Nodes::gauss)
  {
    Execution execution;
    execution.backend = "cpu";
    execution.nodes = nodes;
    execution.communicator = communicator(MPI_COMM_WORLD);
    return execution;
  }
  Execution alone(Nodes nodes = Nodes::gauss)
  {
    Execution execution = everybody(nodes);
    execution.communicator = -1;
    return execution;
  }

  Problem box(int dim, int degree, int refinements)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = degree;
    problem.lower = {-0.5, 1., 0.};
    problem.upper = {1., 2., 0.75};
    problem.coarse_cells = {3, 2, dim == 3 ? 2 : 1};
    problem.refinements = refinements;
    problem.coefficient = 2.5;
    problem.boundary = {BoundaryKind::dirichlet, BoundaryKind::neumann, BoundaryKind::periodic,
        BoundaryKind::periodic, BoundaryKind::neumann, BoundaryKind::dirichlet};
    return problem;
  }

  Numbers random_numbers(std::int64_t size, unsigned seed)
  {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> distribution(-1., 1.);
    Numbers result(static_cast<std::size_t>(size));
    for (double &number : result)
      number = distribution(generator);
    return result;
  }

  double largest_difference(const Numbers &a, const Numbers &b)
  {
    double largest = 0.;
    for (std::size_t i = 0; i < a.size(); ++i)
      largest = std::max(largest, std::abs(a[i] - b[i]));
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest;
  }

  /// phi[q][m] of a cell: mode m at node q, both lexicographic.
  std::vector<Numbers> cell_values(
      const Problem &problem, const CellBasis &basis, const Numbers &nodes)
  {
    const int n = basis.n, per_cell = problem.dim == 3 ? n * n * n : n * n;
    const Numbers line = mode_value_matrix(basis, nodes);
    std::vector<Numbers> phi(per_cell, Numbers(per_cell, 1.));
    for (int q = 0; q < per_cell; ++q)
      for (int m = 0; m < per_cell; ++m)
        for (int d = 0, stride = 1; d < problem.dim; ++d, stride *= n)
          phi[q][m] *= line[q / stride % n * n + m / stride % n];
    return phi;
  }

  // With nodal values u = P c, P^T A u must be (a V / H^2) B c: no inverse is needed for that.
  void expect_assembled_matrix(const Problem &problem, const Nodes nodes, const Numbers &line)
  {
    const CellBasis basis = make_cell_basis(problem.degree);
    const auto matrix = test::assemble_sipg(problem, basis);
    const auto phi = cell_values(problem, basis, line);
    const std::size_t per_cell = phi.size(), size = matrix.m();
    Solver solver(problem, {}, alone(nodes));
    ASSERT_EQ(solver.size(), static_cast<std::int64_t>(size));
    const Numbers modes = random_numbers(solver.size(), 1);
    Numbers u(size, 0.), y(size);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t m = 0; m < per_cell; ++m)
        u[i] += phi[i % per_cell][m] * modes[i / per_cell * per_cell + m];
    solver.multiply(y, u);
    double volume = problem.coefficient, length = std::numeric_limits<double>::max();
    for (int d = 0; d < problem.dim; ++d)
    {
      volume *= problem.cell_size(d);
      length = std::min(length, problem.cell_size(d));
    }
    double largest = 0., difference = 0.;
    for (std::size_t i = 0; i < size; ++i)
    {
      double expected = 0., found = 0.;
      for (std::size_t j = 0; j < size; ++j)
        expected += matrix(i, j) * modes[j];
      expected *= volume / (length * length);
      for (std::size_t q = 0; q < per_cell; ++q)
        found += phi[q][i % per_cell] * y[i / per_cell * per_cell + q];
      largest = std::max(largest, std::abs(expected));
      difference = std::max(difference, std::abs(expected - found));
    }
    EXPECT_LT(difference, 1e-12 * largest) << "dim " << problem.dim << " degree " << problem.degree;
  }

  TEST(Solver, MultipliesByTheMatrixThatDealiiAssembles)
  {
    const double inner = std::sqrt(0.2);
    for (const int dim : {2, 3})
      expect_assembled_matrix(
          box(dim, 3, 0), Nodes::gauss_lobatto, {0., 0.5 - 0.5 * inner, 0.5 + 0.5 * inner, 1.});
    const double far = std::sqrt(0.6) / 2.;
    expect_assembled_matrix(box(2, 2, 1), Nodes::gauss, {0.5 - far, 0.5, 0.5 + far});
  }

  /// u = cos(pi x) sin(pi y) (cos(pi z)) on the unit cube with inhomogeneous sides, as functions.
  Problem waves(int dim, int degree, int refinements)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = degree;
    problem.coarse_cells = {1, 1, 1};
    problem.refinements = refinements;
    problem.coefficient = 0.5;
    const auto exact = [dim](double x, double y, double z) {
      return std::cos(pi * x) * std::sin(pi * y) * (dim == 3 ? std::cos(pi * z) : 1.);
    };
    const auto batch = [exact](double factor) {
      return [exact, factor](
                 std::size_t n, const double *x, const double *y, const double *z, double *values) {
        for (std::size_t q = 0; q < n; ++q)
          values[q] = factor * exact(x[q], y[q], z[q]);
      };
    };
    problem.functions["exact"] = batch(1.);
    problem.functions["source"] = batch(0.5 * dim * pi * pi);
    problem.right_hand_side = "source";
    problem.boundary_value.fill("exact");
    return problem;
  }
  Numbers exact_values(const Solver &solver, int dim)
  {
    Numbers x(solver.size()), y(x.size()), z(dim == 3 ? x.size() : 0), result(x.size());
    solver.coordinates(x, y, z);
    for (std::size_t i = 0; i < x.size(); ++i)
      result[i] = std::cos(pi * x[i]) * std::sin(pi * y[i]) * (dim == 3 ? std::cos(pi * z[i]) : 1.);
    return result;
  }

  TEST(Solver, ConvergesToTheExactSolution)
  {
    for (const int dim : {2, 3})
      for (const OuterSolver method : {OuterSolver::fgmres, OuterSolver::cg})
      {
        double before = 0.;
        for (const int refinements : {3, 4})
        {
          SolverOptions options;
          options.solver = method;
          options.tolerance = 1e-10;
          Solver solver(waves(dim, 3, refinements), options, everybody());
          Numbers u(solver.size());
          const SolveReport report = solver.solve(u);
          ASSERT_TRUE(report.converged()) << report.detail;
          EXPECT_LE(report.iterations, 12);
          const double error = largest_difference(u, exact_values(solver, dim));
          EXPECT_LT(error, refinements == 3 ? 1e-4 : 1e-5);
          if (refinements == 4)
          {
            EXPECT_GT(std::log2(before / error), 3.5);
          }
          before = error;
        }
      }
  }

  TEST(Solver, RightHandSidesOneAfterTheOtherHaveTheBitsOfNewSolvers)
  {
    const Problem problem = box(3, 2, 1);
    Solver kept(problem, {}, everybody());
    for (unsigned seed = 1; seed <= 20; ++seed)
    {
      const Numbers f = random_numbers(kept.size(), seed);
      Numbers u(f.size()), again(f.size());
      ASSERT_TRUE(kept.solve(f, u).converged());
      Solver made(problem, {}, everybody());
      ASSERT_TRUE(made.solve(f, again).converged());
      EXPECT_EQ(u, again);
    }
  }

  TEST(Solver, DataOfAnySize)
  {
    Solver solver(box(2, 2, 2), {}, everybody());
    const Numbers f = random_numbers(solver.size(), 2);
    Numbers u(f.size()), scaled(f.size()), expected(f.size());
    ASSERT_TRUE(solver.solve(f, u).converged());
    for (const double factor : {0x1p-1040, 0x1p1000})
    {
      Numbers other = f;
      for (std::size_t i = 0; i < f.size(); ++i)
      {
        other[i] *= factor;
        expected[i] = u[i] * factor;
      }
      const SolveReport report = solver.solve(other, scaled);
      ASSERT_TRUE(report.converged()) << factor << ' ' << report.detail;
      EXPECT_LT(largest_difference(scaled, expected), 1e-6 * factor);
    }
  }

  TEST(Solver, SystemIsSolvedAndAGoodStartIsKept)
  {
    SolverOptions options;
    options.tolerance = 1e-11;
    Solver solver(box(3, 3, 1), options, everybody(Nodes::gauss_lobatto));
    const Numbers expected = random_numbers(solver.size(), 7);
    Numbers b(expected.size()), u(expected.size());
    solver.multiply(b, expected);
    ASSERT_TRUE(solver.solve_system(b, u).converged());
    EXPECT_LT(largest_difference(u, expected), 1e-9);
    const SolveReport report = solver.solve_system(b, u, Start::given);
    EXPECT_TRUE(report.converged());
    EXPECT_EQ(report.iterations, 0);
  }

  TEST(Solver, PreconditionerReducesTheError)
  {
    Solver solver(box(3, 2, 1), {}, everybody());
    const Numbers expected = random_numbers(solver.size(), 3);
    Numbers b(expected.size()), r(expected.size()), z(expected.size()), x(expected.size(), 0.);
    solver.multiply(b, expected);
    for (int sweep = 0; sweep < 6; ++sweep)
    {
      solver.multiply(r, x);
      for (std::size_t i = 0; i < r.size(); ++i)
        r[i] = b[i] - r[i];
      solver.precondition(z, r);
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] += z[i];
    }
    EXPECT_LT(largest_difference(x, expected), 1e-3);
  }

  TEST(Solver, DirectSolvesAndInverts)
  {
    SolverOptions options;
    options.solver = OuterSolver::direct;
    Solver solver(box(3, 3, 1), options, everybody());
    const Numbers expected = random_numbers(solver.size(), 5);
    Numbers b(expected.size()), u(expected.size());
    solver.multiply(b, expected);
    const SolveReport report = solver.solve_system(b, u);
    ASSERT_TRUE(report.converged()) << report.detail;
    EXPECT_EQ(report.iterations, 1);
    EXPECT_LT(largest_difference(u, expected), 1e-10);
    solver.precondition(u, b);
    EXPECT_LT(largest_difference(u, expected), 1e-10);
  }

  // Polynomials of the degree of the elements are given exactly by their values at the nodes.
  TEST(Solver, TakesSidesAsArrays)
  {
    for (const int dim : {2, 3})
    {
      Problem problem = box(dim, 3, 1);
      const Problem zero = problem;
      problem.boundary_value = {"y*y*(2-y)", "1+y", "0", "0", "x*x-y", "x*x*x+y*y"};
      Solver expected(problem, {}, everybody()), solver(zero, {}, everybody(Nodes::gauss));
      const Numbers f(static_cast<std::size_t>(solver.size()), 2.);
      Numbers u(f.size()), v(f.size());
      ASSERT_TRUE(expected.solve(f, u).converged());
      ASSERT_TRUE(solver.solve(f, v).converged());
      EXPECT_GT(largest_difference(u, v), 0.1);
      for (int side = 0; side < 2 * dim; ++side)
        if (side / 2 != 1) // which is periodic
        {
          Numbers x(solver.side_size(side)), y(x.size()), z(x.size());
          solver.side_coordinates(side, x, y, z);
          Numbers values(x.size());
          for (std::size_t i = 0; i < x.size(); ++i)
          {
            const auto normal = static_cast<std::size_t>(side / 2);
            const double at = normal == 0 ? x[i] : z[i];
            EXPECT_DOUBLE_EQ(at, (side % 2 == 0 ? problem.lower : problem.upper)[normal]);
            values[i] = side == 0 ? y[i] * y[i] * (2. - y[i])
                : side == 1       ? 1. + y[i]
                : side == 4       ? x[i] * x[i] - y[i]
                                  : x[i] * x[i] * x[i] + y[i] * y[i];
          }
          solver.set_side_values(side, values);
        }
      ASSERT_TRUE(solver.solve(f, v).converged());
      EXPECT_LT(largest_difference(u, v), 1e-9);
    }
  }

  TEST(Solver, SidesThatDependOnTime)
  {
    Problem problem = box(2, 2, 1);
    double time = 1.;
    problem.boundary_value[0] = "g";
    problem.functions["g"] = [&](std::size_t n, const double *, const double *, const double *,
                                 double *values) { std::fill_n(values, n, time); };
    Solver solver(problem, {}, everybody());
    const Numbers f(static_cast<std::size_t>(solver.size()), 0.);
    Numbers u(f.size()), v(f.size());
    ASSERT_TRUE(solver.solve(f, u).converged());
    time = 2.;
    ASSERT_TRUE(solver.solve(f, v).converged());
    EXPECT_EQ(u, v);
    solver.update_sides();
    ASSERT_TRUE(solver.solve(f, v).converged());
    for (double &number : u)
      number *= 2.;
    EXPECT_LT(largest_difference(u, v), 1e-8);
  }

  TEST(Solver, RefusesWrongSides)
  {
    Solver solver(box(2, 2, 1), {}, alone());
    Numbers values(static_cast<std::size_t>(solver.side_size(0)), 1.), u(solver.size());
    EXPECT_THROW(solver.side_size(4), ArgumentError);
    EXPECT_THROW(solver.set_side_values(-1, values), ArgumentError);
    EXPECT_THROW(solver.set_side_values(2, Numbers(solver.side_size(2))), ArgumentError);
    EXPECT_THROW(solver.set_side_values(0, {}), ArgumentError);
    values[1] = std::numeric_limits<double>::infinity();
    EXPECT_THROW(solver.set_side_values(0, values), ArgumentError);
    EXPECT_TRUE(solver.solve(u).converged());
  }

  TEST(Solver, RefusesWhatDoesNotFitIntoMemory)
  {
    try
    {
      const Solver solver(box(3, 3, 12), {}, alone());
      ADD_FAILURE();
    }
    catch (const MemoryError &error)
    {
      EXPECT_NE(std::string(error.what()).find(" bytes of memory, of which "), std::string::npos)
          << error.what();
    }
  }

  TEST(Solver, WithoutADirichletSideTheMeanIsZero)
  {
    Problem problem = box(2, 2, 2);
    problem.boundary.fill(BoundaryKind::neumann);
    Solver solver(problem, {}, everybody());
    const Numbers f(solver.size(), 3.);
    Numbers u = random_numbers(solver.size(), 1);
    ASSERT_TRUE(solver.solve(f, u).converged()); // f has nothing but a mean
    EXPECT_LT(largest_difference(u, Numbers(u.size(), 0.)), 1e-12);
  }

  TEST(Solver, RefusesWhatItCannotUse)
  {
    const auto refused = [](const auto &change, const std::string &word) {
      Problem problem = box(2, 2, 1);
      SolverOptions options;
      Execution execution = alone();
      change(problem, options, execution);
      try
      {
        const Solver solver(problem, options, execution);
        ADD_FAILURE() << word << " was taken";
      }
      catch (const ArgumentError &error)
      {
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
      }
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    refused([](auto &p, auto &, auto &) { p.dim = 4; }, "problem.dim");
    refused([](auto &p, auto &, auto &) { p.degree = 9; }, "problem.degree");
    refused([](auto &p, auto &, auto &) { p.upper[1] = p.lower[1]; }, "upper[1]");
    refused([](auto &p, auto &, auto &) { p.coarse_cells[0] = 0; }, "coarse_cells[0]");
    refused([](auto &p, auto &, auto &) { p.coefficient = -1.; }, "coefficient");
    refused([](auto &p, auto &, auto &) { p.boundary[2] = BoundaryKind::neumann; }, "periodic");
    refused([](auto &p, auto &, auto &) { p.boundary_value[0] = "xx"; }, "xx");
    refused([](auto &p, auto &, auto &) { p.boundary_value[0] = "f", p.functions["f"] = {}; },
        "empty function");
    refused(
        [](auto &, auto &o, auto &) { o.solver = OuterSolver::direct, o.full_multigrid = true; },
        "direct");
    refused([](auto &, auto &o, auto &) { o.tolerance = 0.; }, "tolerance");
    refused([](auto &, auto &o, auto &) { o.full_multigrid_cycles = 0; }, "full_multigrid_cycles");
    refused([](auto &, auto &o, auto &) { o.solver = OuterSolver(9); }, "options.solver = 9");
    refused([](auto &, auto &o, auto &) { o.multigrid.degree = 101; }, "multigrid.degree");
    refused([](auto &, auto &o, auto &) { o.multigrid.eigenvalue_steps = 0; }, "6 to 1000");
    refused([](auto &, auto &o, auto &) { o.multigrid.single_levels = -1; }, "single_levels");
    refused([&](auto &, auto &o, auto &) { o.multigrid.smoothing_range = nan; }, "smoothing_range");
    refused([&](auto &, auto &o, auto &) { o.multigrid.eigenvalue_safety = nan; }, "safety");
    refused([&](auto &, auto &o, auto &) { o.multigrid.damping = nan; }, "damping");
    refused([](auto &p, auto &, auto &) { p.boundary[0] = BoundaryKind(7); }, "boundary[0]");
    refused([](auto &p, auto &, auto &) { p.lower[0] = -1e308, p.upper[0] = 1e308; }, "inf");
    refused([](auto &p, auto &, auto &) { p.lower[0] = 1e16, p.upper[0] = 1e16 + 4.; }, "cells");
    refused([](auto &p, auto &, auto &) { p.lower[0] = 0., p.upper[0] = 1e-150; }, "resolves");
    refused([](auto &p, auto &, auto &) { p.coarse_cells = {1 << 30, 1 << 30, 1}; }, "less than");
    refused([](auto &p, auto &, auto &) { p.constants["pi"] = 3.; }, "'pi'");
    refused([](auto &p, auto &, auto &) { p.constants["a b"] = 3.; }, "'a b'");
    refused([](auto &p, auto &, auto &) { p.functions["1"] = {}; }, "'1'");
    refused([](auto &p, auto &, auto &) { p.constants["c"] = 1., p.functions["c"] = {}; }, "'c'");
    refused([](auto &, auto &, auto &s) { s.backend = "gpu"; }, "gpu");
  }

  /// What the words of `f` begin with, which every process must throw.
  template <typename F>
  void expect_words_everywhere(const F &f, const std::string &words)
  {
    try
    {
      f();
      ADD_FAILURE() << words << " was taken";
    }
    catch (const std::exception &error)
    {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }

  TEST(Solver, WhatOneProcessCannotUseNoneDoes)
  {
    int rank = 0, n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const bool is_wrong = rank == n_ranks - 1;
    Problem problem = box(2, 2, 3);
    bool is_bad = false;
    problem.right_hand_side = "f";
    problem.functions["f"] = [&](std::size_t n, const double *, const double *, const double *,
                                 double *values) {
      if (is_bad && is_wrong)
        throw std::runtime_error("no f here");
      std::fill_n(values, n, 1.);
    };
    Problem wrong = problem;
    wrong.right_hand_side = is_wrong ? "xx" : "1";
    expect_words_everywhere([&] { Solver(wrong, {}, everybody()); }, "'xx'");
    wrong.degree = is_wrong ? 77 : 2;
    expect_words_everywhere([&] { Solver(wrong, {}, everybody()); }, "problem.degree = 77");
    wrong.degree = is_wrong ? 3 : 2;
    if (n_ranks > 1)
      expect_words_everywhere([&] { Solver(wrong, {}, everybody()); }, "problem.degree differs");

    Solver solver(problem, {}, everybody());
    Numbers u(solver.size()), wrong_size(u.size() + (is_wrong ? 1 : 0)),
        side(solver.side_size(0), is_wrong ? std::nan("") : 0.);
    expect_words_everywhere([&] { solver.solve(wrong_size); }, "u has ");
    expect_words_everywhere([&] { solver.multiply(wrong_size, u); }, "y has ");
    expect_words_everywhere([&] { solver.set_side_values(0, side); }, "not finite");
    is_bad = true;
    expect_words_everywhere([&] { solver.solve(u); }, "no f here");
    is_bad = false;
    EXPECT_TRUE(solver.solve(u).converged());
  }

  TEST(Solver, OneThatWasMovedFromIsRefusedUntilItIsAnother)
  {
    Solver first(box(2, 2, 1), {}, alone());
    Solver second(std::move(first));
    Numbers u(second.size());
    EXPECT_THROW(first.size(), ArgumentError);         // NOLINT(bugprone-use-after-move)
    EXPECT_THROW(first.solve(u), ArgumentError);       // NOLINT(bugprone-use-after-move)
    EXPECT_THROW(first.update_sides(), ArgumentError); // NOLINT(bugprone-use-after-move)
    first = std::move(second);
    EXPECT_TRUE(first.solve(u).converged());
  }

  TEST(Solver, IsUsableAfterWrongVectors)
  {
    Solver solver(box(2, 2, 1), {}, alone());
    Numbers u(solver.size()), f(u.size(), 1.), shorter(u.size() - 1);
    EXPECT_THROW(solver.solve(shorter), ArgumentError);
    EXPECT_THROW(solver.solve(shorter, u), ArgumentError);
    EXPECT_THROW(solver.solve_system(f, shorter), ArgumentError);
    EXPECT_THROW(solver.multiply(u, shorter), ArgumentError);
    EXPECT_THROW(solver.precondition(shorter, u), ArgumentError);
    EXPECT_THROW(solver.coordinates(u, shorter, {}), ArgumentError);
    f[3] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(solver.solve(f, u), ArgumentError);
    f[3] = 1.;
    EXPECT_TRUE(solver.solve(f, u).converged());
  }
} // namespace
} // namespace tensormg
