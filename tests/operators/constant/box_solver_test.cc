// The direct solver: B (B^-1 b) = b for every mixture of boundaries, mean zero where constants are
// free.
// ranks: 1 2 3
#include "operators/constant/coarse_box_solver.h"

#include <string>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/vector/vector.h"
#include "operators/constant/laplace_operator.h"
#include "operators/vectors/vector_space.h"
#include "tests/support/boxes.h"

namespace tensormg
{
namespace
{
  double mean(const LevelGrid &level, const CellBasis &basis, const Vector<double> &u)
  {
    double sum = vector_kernels::sum_of_means(level.block, basis, u.data());
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, level.communicator);
    const auto &cells = level.global_cells;
    return sum / static_cast<double>(cells[0] * cells[1] * cells[2]);
  }

  /// ||b - B x|| / ||b|| with b's mean removed where B has constants in its kernel.
  void expect_solved(const Problem &problem, const LevelGrid &level, double tolerance)
  {
    const CellBasis basis = make_cell_basis(problem.degree);
    LaplaceOperator<double> op(level, basis, laplace::Backend::reference);
    BoxSolver solver(level, basis, problem);
    const VectorSpace space(level.block, level.communicator);
    auto b = test::hashed_vector<double>(level, 4);
    Vector<double> x = op.make_vector(), r = op.make_vector();
    test::poison(x);
    solver.solve(x, b);
    EXPECT_TRUE(test::padding_is_zero(x));
    if (problem.is_singular())
    {
      // The solver projects the right-hand side by itself: b and b + constant have the same
      // solution.
      EXPECT_NEAR(mean(level, basis, x), 0., 1e-11 * space.norm(x));
      const double shift = mean(level, basis, b);
      vector_kernels::add_constant(level.block, basis, -shift, b.data());
    }
    op.residual(r, x, b);
    EXPECT_LT(space.norm(r) / space.norm(b), tolerance);
  }

  TEST(BoxSolver, EveryMixtureOfBoundaries)
  {
    for (int dim = 2; dim <= 3; ++dim)
      for (const std::string &boundary : test::boundary_mixtures(dim))
        for (int degree = 1; degree <= 2; ++degree)
        {
          SCOPED_TRACE(testing::Message() << boundary << ", degree " << degree);
          const Problem problem = test::box(dim, degree, {3, 4, 3}, 0, boundary);
          const Grid grid = make_grid(problem, MPI_COMM_WORLD);
          expect_solved(problem, grid.finest(), 1e-11);
        }
  }

  TEST(BoxSolver, EveryDegree)
  {
    for (int degree = 3; degree <= max_degree; ++degree)
      for (const char *boundary : {"DD", "NN", "DNPPND"})
        for (int dim = 2; dim <= 3; ++dim)
        {
          SCOPED_TRACE(testing::Message() << boundary << ", degree " << degree << ", dim " << dim);
          const Problem problem = test::box(dim, degree, {2, 3, 3}, 0, boundary);
          const Grid grid = make_grid(problem, MPI_COMM_WORLD);
          expect_solved(problem, grid.finest(), 1e-11);
        }
  }

  TEST(BoxSolver, OneCellIsItsOwnNeighbour)
  {
    for (const std::array<std::int64_t, 3> cells :
        {std::array<std::int64_t, 3>{1, 1, 1}, {1, 3, 2}, {2, 1, 2}, {3, 2, 1}})
      for (const char *boundary : {"PP", "PPDD", "DDPP", "DDPPPP", "NNPPDN"})
        for (int dim = 2; dim <= 3; ++dim)
        {
          SCOPED_TRACE(testing::Message()
              << boundary << ", dim " << dim << ", cells " << cells[0] << cells[1] << cells[2]);
          const Problem problem = test::box(dim, 3, cells, 0, boundary);
          expect_solved(problem, make_grid(problem, MPI_COMM_WORLD).finest(), 1e-11);
        }
  }

  TEST(BoxSolver, EveryLevelAndLongLines)
  {
    // Distributed and replicated levels; more cells in x than one row of registers holds.
    for (const char *boundary : {"DD", "NNPPNN"})
    {
      const Problem problem = test::box(3, 2, {5, 2, 1}, 2, boundary);
      const Grid grid = make_grid(problem, MPI_COMM_WORLD);
      for (const LevelGrid &level : grid.levels)
        expect_solved(problem, level, 1e-11);
      const Problem flat = test::box(2, 3, {19, 7, 1}, 2, boundary);
      for (const LevelGrid &level : make_grid(flat, MPI_COMM_WORLD).levels)
        expect_solved(flat, level, 1e-11);
    }
  }

  template <typename Number>
  double rounding_of_solution(
      const LevelGrid &level, const CellBasis &basis, const Problem &problem)
  {
    CoarseBoxSolver<Number> solver(level, basis, problem);
    BoxSolver exact(level, basis, problem);
    const auto b = test::hashed_vector<Number>(level, 4);
    const VectorSpace space(level.block, level.communicator);
    Vector<double> b_double(level.block), x_double(level.block);
    test::for_each_dof(
        level.block, [&](std::int64_t at) { b_double[at] = test::to_double(b[at]); });
    Vector<Number> x(level.block);
    test::poison(x);
    solver.solve(x, b);
    exact.solve(x_double, b_double);
    EXPECT_TRUE(test::padding_is_zero(x));
    return test::relative_difference(x, x_double);
  }

  TEST(BoxSolver, OtherNumbersRoundTheResultOnly)
  {
    for (const char *boundary : {"DD", "PP"})
    {
      const Problem problem = test::box(3, 2, {3, 4, 3}, 0, boundary);
      const CellBasis basis = make_cell_basis(2);
      const Grid grid = make_grid(problem, MPI_COMM_WORLD);
      EXPECT_LT(rounding_of_solution<double>(grid.finest(), basis, problem), 1e-15);
      EXPECT_LT(rounding_of_solution<float>(grid.finest(), basis, problem), 0x1p-23);
      EXPECT_LT(rounding_of_solution<Half>(grid.finest(), basis, problem), 0x1p-10);
    }
  }

  TEST(BoxSolver, RefusesWhatItCannotDo)
  {
    const Problem problem = test::box(2, 1, {8193, 1, 1}, 0, "DD");
    const Grid grid = make_grid(problem, MPI_COMM_SELF);
    const CellBasis basis = make_cell_basis(1);
    EXPECT_THROW(BoxSolver(grid.finest(), basis, problem), std::length_error);
  }

  TEST(BoxSolver, MemoryCountsWhatItHolds)
  {
    // Two vectors of 2 planes x 4 rows x 8 padded cells x 2 modes, and the eigenvectors of x, y and
    // z.
    const Block whole(3, 1, {3, 2, 1});
    EXPECT_EQ(BoxSolver::memory(whole), 8 * (2 * whole.size() + 6 * 16 + 4 * 4 + 2 * 2));
  }
} // namespace
} // namespace tensormg
