// Boxes of stretched cells: as many iterations as with cubes, whatever the boundary, the precision and the smoother.
// ranks: 1 2 3
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "operators/constant/level_choices.h"
#include "operators/multigrid/coarsening_choice.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "tests/support/multigrid_solve.h"
#include "tests/support/sanitized.h"

namespace tensormg
{
namespace
{
  using test::Solve;
  using test::stretched;

  bool only_one_rank()
  {
    int n_ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    return n_ranks == 1;
  }

  /// With the default options of a program: a cycle in single, a basis in single of at most 10 vectors.
  SolveReport by_default(Solve &solve, const MultigridOptions &options = {})
  {
    return solve.short_basis(options);
  }

  int limit(int degree) { return degree <= 4 ? 8 : 10; }

  class Stretched : public testing::TestWithParam<int>
  {};
  INSTANTIATE_TEST_SUITE_P(Degree, Stretched, testing::Range(1, max_degree + 1));

  TEST_P(Stretched, EveryMixtureOfSidesIn2D)
  {
    const int degree = GetParam();
    const int of = test::is_sanitized    ? 11
        : !only_one_rank() || degree > 5 ? 7
                                         : 1; // one of so many
    int turn = degree;
    for (const double length : {1., 1.45, 1.55, 2.3, 4., 7., 20., 100.})
      for (const std::string &boundary : test::boundary_mixtures(2))
      {
        if (turn++ % of != 0)
          continue;
        SCOPED_TRACE(testing::Message() << "1 x " << length << ' ' << boundary);
        Solve solve(stretched(2, degree, degree < 5 ? 4 : 3, {1., length, 1.}, boundary));
        const SolveReport report = by_default(solve);
        EXPECT_TRUE(report.converged()) << report.detail;
        EXPECT_LE(report.iterations, limit(degree));
      }
  }

  TEST_P(Stretched, PlatesAndRods)
  {
    const int degree = GetParam();
    const std::array<double, 3> boxes[] = {
        {1., 1., 0.3}, {1., 1., 0.05}, {1., 0.02, 0.02}, {0.02, 1., 0.1}, {1., 0.1, 0.01}};
    const char *const kinds[] = {"DD", "NN", "DDDDNN", "NNNNDD", "DNPPND", "PPNNDD", "PP"};
    int turn = 0;
    for (const auto &lengths : boxes)
      for (const char *boundary : kinds)
      {
        if ((turn++ + degree) % (degree < 4 && !test::is_sanitized ? 2 : 5) != 0)
          continue; // what one degree leaves out another has
        SCOPED_TRACE(testing::Message()
            << lengths[0] << " x " << lengths[1] << " x " << lengths[2] << ' ' << boundary);
        Solve solve(stretched(3, degree, degree < 4 ? 3 : 2, lengths, boundary));
        const SolveReport report = by_default(solve);
        EXPECT_TRUE(report.converged()) << report.detail;
        EXPECT_LE(report.iterations, limit(degree));
      }
  }

  TEST(Semicoarsening, AnyAspectRatioBetweenDirichletSides)
  {
    for (const double length : {10., 100., 1e3, 1e4})
      for (const int degree : {1, 3, 4, 7})
      {
        SCOPED_TRACE(testing::Message() << "1 x " << length << ", degree " << degree);
        Solve flat(stretched(2, degree, degree < 5 ? 5 : 4, {1., length, 1.}, "DDNN"));
        EXPECT_LE(by_default(flat).iterations, limit(degree));
        if (degree > 4 && test::is_sanitized)
          continue;
        Solve plate(stretched(3, degree, degree < 4 ? 3 : 2, {length, length, 1.}, "DDNNDN"));
        EXPECT_LE(by_default(plate).iterations, limit(degree));
      }
  }

  // Without a Dirichlet side across the short direction the condition number grows with the square of the ratio, and beyond some 1e8 numbers
  // of 24 bits hold too little: there the cycle is in double.
  TEST(Semicoarsening, FreeShortSidesAtLargeRatios)
  {
    for (const double length : {2e3, 1e4})
      for (const char *boundary : {"NNDD", "PPDD", "NNNN", "NNPP"})
      {
        SCOPED_TRACE(testing::Message() << "1 x " << length << ' ' << boundary);
        Solve solve(stretched(2, 3, 3, {1., length, 1.}, boundary));
        EXPECT_TRUE(needs_double(solve.grid, solve.basis));
        const MultigridOptions options = with_chosen_precision({}, solve.grid, solve.basis);
        EXPECT_EQ(options.precision, Precision::double_precision);
        // Residuals below this are rounding of x itself.
        const double tolerance = length < 5e3 ? 1e-8 : 1e-6;
        Fgmres<VectorSpace> method(solve.space, tolerance, 40, 10);
        const SolveReport report = solve.run(method, solve.op, options, false, tolerance);
        EXPECT_TRUE(report.converged()) << report.detail;
        EXPECT_LE(report.iterations, 8);
      }
  }

  TEST(Semicoarsening, PrecisionIsChosenByTheConditionNumber)
  {
    const auto chosen = [](const Problem &problem) {
      const Grid grid = make_grid(problem, MPI_COMM_SELF);
      return with_chosen_precision({}, grid, make_cell_basis(problem.degree)).precision;
    };
    EXPECT_EQ(chosen(test::cubes(3, 8, {1, 1, 1}, 12, "NN")), Precision::single_precision)
        << "cubes are, however many";
    EXPECT_EQ(chosen(stretched(2, 3, 5, {1., 1e4, 1.}, "DD")), Precision::single_precision);
    EXPECT_EQ(chosen(stretched(2, 3, 5, {1., 30., 1.}, "NNDD")), Precision::single_precision);
    EXPECT_EQ(chosen(stretched(2, 3, 5, {1., 60., 1.}, "NNDD")), Precision::double_precision);
    EXPECT_EQ(chosen(stretched(2, 8, 0, {1., 5.5e-4, 1.}, "NNPP", {4, 3, 1})),
        Precision::double_precision)
        << "with one level, too";
    MultigridOptions half;
    half.precision = Precision::half_precision;
    const Grid grid = make_grid(stretched(2, 3, 5, {1., 300., 1.}, "NNDD"), MPI_COMM_SELF);
    EXPECT_EQ(
        with_chosen_precision(half, grid, make_cell_basis(3)).precision, Precision::half_precision)
        << "the choice of a user stays";
  }

  TEST(Semicoarsening, PrecisionsSmoothersAndCycles)
  {
    for (const char *boundary : {"DDDDNN", "NNPPDN"})
    {
      Solve solve(stretched(3, 3, 3, {1., 0.7, 0.02}, boundary));
      const int expected = by_default(solve).iterations;
      EXPECT_LE(expected, 7);
      for (const Precision precision : {Precision::double_precision, Precision::half_precision})
      {
        SCOPED_TRACE(to_string(precision));
        MultigridOptions options;
        options.precision = precision;
        EXPECT_NEAR(solve.fgmres(options).iterations, expected, 1);
        EXPECT_NEAR(solve.cg(options).iterations, expected, 2);
        options.cycle = Cycle::w;
        EXPECT_LE(solve.fgmres(options).iterations, expected + 1);
        options.cycle = Cycle::v;
        options.smoother = Smoother::jacobi;
        const SolveReport jacobi = solve.fgmres(options);
        EXPECT_TRUE(jacobi.converged());
        EXPECT_LE(jacobi.iterations, 14);
        options.smoother = Smoother::patch;
        options.degree = 1;
        const SolveReport patch = solve.fgmres(options);
        EXPECT_TRUE(patch.converged());
        EXPECT_LE(patch.iterations, 8);
        options = {};
        options.precision = precision;
        options.chebyshev_kind = ChebyshevKind::first;
        EXPECT_LE(solve.fgmres(options).iterations, expected + 2);
      }
    }
  }

  TEST(Semicoarsening, OddNumbersOfShortCells)
  {
    for (const char *boundary : {"DDDD", "DDNN", "DDPP", "NNDN"})
      for (const int degree : {2, 5})
      {
        SCOPED_TRACE(testing::Message() << boundary << ", degree " << degree);
        Solve solve(stretched(2, degree, 2, {1., 0.03, 1.}, boundary, {3, 5, 1}));
        EXPECT_TRUE(solve.grid.levels[1].exact[1]);
        EXPECT_LE(by_default(solve).iterations, limit(degree));
      }
  }

  // Sines of both directions excite what single cannot correct: by default they are in double.
  TEST(Semicoarsening, DefaultsHoldJustBeyondSingle)
  {
    for (const auto &[problem, most] : {std::pair{stretched(2, 2, 1, {1., 1.3e-4, 1.}, "PPNN"), 8},
             std::pair{stretched(2, 2, 1, {2.15e-4, 0.25, 1.}, "PPNN", {3, 2, 1}), 8},
             std::pair{stretched(2, 1, 1, {1., 4.8e-4, 1.}, "PPNN", {1, 3, 1}), 8}})
    {
      Solve solve(problem);
      const MultigridOptions options = with_chosen_precision({}, solve.grid, solve.basis);
      EXPECT_EQ(options.precision, Precision::double_precision);
      EXPECT_LE(solve.fgmres(options).iterations, most);
    }
  }

  TEST(Semicoarsening, PatchesOfOddNumbersOfShortCells)
  {
    for (const std::int64_t cells : {3, 5})
      for (const SchwarzKind kind : {SchwarzKind::multiplicative, SchwarzKind::additive})
      {
        Solve solve(stretched(2, 2, 2, {0.01, 1., 1.}, "NNDD", {cells, 1, 1}));
        MultigridOptions options;
        options.precision = Precision::double_precision;
        options.smoother = Smoother::patch;
        options.schwarz_kind = kind;
        options.degree = 2;
        EXPECT_LE(solve.fgmres(options).iterations, 12) << cells;
      }
  }

  TEST(Semicoarsening, LevelsInSingleBelowHalf)
  {
    Solve solve(stretched(3, 3, 3, {1., 1., 0.05}, "DDDDNN"));
    MultigridOptions options;
    options.precision = Precision::half_precision;
    const int expected = solve.fgmres(options).iterations;
    options.single_levels = 3;
    EXPECT_LE(solve.fgmres(options).iterations, expected);
  }

  TEST(Semicoarsening, FullMultigridStartIsBelowZero)
  {
    for (const double length : {20., 50.})
    {
      Solve solve(stretched(2, 3, 5, {1., length, 1.}, "NNDD"));
      solve.smooth_right_hand_side(1.);
      const SolveReport report = solve.fgmres({}, true);
      EXPECT_TRUE(report.converged());
      EXPECT_LT(report.residuals.front(), 0.05 * report.rhs_norm);
    }
  }

  // A published solver with cell-wise fast diagonalisation and Chebyshev steps of degree 5 takes 3, 3, 5, 9, 18, 37.
  TEST(Semicoarsening, StretchedCubeToFiveDigits)
  {
    if (test::is_sanitized || !only_one_rank())
      return; // one size serves
    for (const double length : {1., 2., 5., 10., 20., 50.})
    {
      Solve solve(stretched(3, 4, 4, {1., 1., length}, "DD"));
      EXPECT_LE(solve.short_basis({}, 1e-5).iterations, 5) << length;
    }
  }
} // namespace
} // namespace tensormg
