// Fast diagonalisation of whole grids whose coefficients are products of functions of x, y and z: B (B^-1 b) = b on graded cells with every
// kind of boundary, and which coefficients are such products.
// ranks: 1 2 3
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/cellwise/cell_coefficients.h"
#include "operators/cellwise/separation.h"
#include "operators/constant/box_solver.h"
#include "operators/constant/laplace_operator.h"
#include "operators/constant/line_pencil.h"
#include "operators/multigrid/coarsening_choice.h"
#include "operators/vectors/vector_space.h"
#include "tensormg/graded.h"
#include "tests/support/boxes.h"

namespace tensormg
{
namespace
{
  constexpr BoundaryKind D = BoundaryKind::dirichlet, N = BoundaryKind::neumann,
                         P = BoundaryKind::periodic, R = BoundaryKind::robin;

  Problem box(int dim, int degree)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = degree;
    problem.lower = {-0.5, 1., 0.};
    problem.upper = {1., 2., 0.75};
    problem.coarse_cells = {3, 4, dim == 3 ? 5 : 1};
    problem.refinements = 0;
    problem.corners[0] = {-0.5, -0.45, 0.3, 1.};
    if (dim == 3)
      problem.corners[2] = geometric_corners(0., 0.75, 5, 20., FineEnd::lower);
    problem.cell_coefficient[0] = "exp(x)*(1+y)";
    problem.coefficient_in_cell = InCell::mean;
    return problem;
  }

  Grid grid_of(const Problem &problem)
  {
    Grid grid = make_grid(problem, MPI_COMM_WORLD);
    add_cell_coefficients(grid, make_cell_basis(problem.degree));
    return grid;
  }

  void expect_solved(const Problem &problem)
  {
    const CellBasis basis = make_cell_basis(problem.degree);
    const Grid grid = grid_of(problem);
    const LevelGrid &level = grid.finest();
    ASSERT_TRUE(level.cells->separation);
    LaplaceOperator<double> op(level, basis, laplace::Backend::reference);
    BoxSolver solver(level, basis, problem);
    const VectorSpace space(level.block, level.communicator);
    Vector<double> x = op.make_vector(), r = op.make_vector(), b = op.make_vector();
    const auto any = test::hashed_vector<double>(level, 4);
    op.vmult(b, any); // in the range also of singular operators
    test::poison(x);
    solver.solve(x, b);
    EXPECT_TRUE(test::padding_is_zero(x));
    op.residual(r, x, b);
    EXPECT_LT(space.norm(r) / space.norm(b), 1e-11);
  }

  TEST(FastDiagonalisation, SolvesWithEveryKindOfBoundary)
  {
    for (const int dim : {2, 3})
      for (const std::array<BoundaryKind, 6> &boundary :
          {std::array{D, D, D, D, D, D}, {D, N, R, D, N, N}, {P, P, D, R, R, R}, {R, R, P, P, D, N},
              {N, R, N, N, P, P}, {N, N, N, N, N, N}, {N, N, P, P, N, N}})
        for (const int degree : {1, 2, 5})
        {
          Problem problem = box(dim, degree);
          problem.boundary = boundary;
          problem.robin_coefficient.fill(
              "0"); // of no effect, and r h / K is the same on a side if K is on it
          for (int side = 0; side < 2 * dim; ++side)
            if (boundary[side] == R)
            {
              problem.cell_coefficient[0] = "3";
              problem.robin_coefficient[side] = std::to_string(side + 2);
            }
          SCOPED_TRACE(testing::Message()
              << dim << "D degree " << degree << " " << testing::PrintToString(boundary));
          expect_solved(problem);
        }
  }

  TEST(FastDiagonalisation, SolvesWithTensorsAndReaction)
  {
    for (const int dim : {2, 3})
    {
      Problem problem = box(dim, 3);
      for (int d = 0; d < dim; ++d)
        problem.cell_coefficient[d] = std::to_string(1 + 2 * d) + "*(y<1.5?1:1e4)";
      problem.reaction = "0.5*(y<1.5?1:1e4)";
      problem.boundary = {N, N, N, N, P, P};
      expect_solved(problem);
      // As many cells as ranks in no direction.
      problem.coarse_cells = {1, 2, dim == 3 ? 2 : 1};
      problem.corners = {};
      expect_solved(problem);
    }
  }

  TEST(FastDiagonalisation, SeparatesProductsOnly)
  {
    const auto separates = [](const std::string &k, const std::string &reaction,
                               const std::string &r) {
      Problem problem = box(3, 1);
      problem.cell_coefficient[0] = k;
      problem.reaction = reaction;
      if (!r.empty())
      {
        problem.boundary[3] = R;
        problem.robin_coefficient[3] = r;
      }
      return grid_of(problem).finest().cells->separation.has_value();
    };
    EXPECT_TRUE(separates("exp(x-3*z)*(2+y)", "", ""));
    EXPECT_FALSE(separates("1+x+y", "", ""));
    EXPECT_FALSE(separates("1+1e-6*x*z+x", "", ""));
    EXPECT_TRUE(separates("2", "3", "4"));
    EXPECT_TRUE(separates("exp(x)", "0", ""));
    EXPECT_FALSE(separates("exp(x)", "3", ""));
    EXPECT_TRUE(separates("exp(x)", "2*exp(x)", ""));
    EXPECT_FALSE(separates("exp(x)", "", "4")); // r h / K differs along the side
    EXPECT_FALSE(separates("2", "", "1+x"));
    EXPECT_TRUE(separates("1+y", "", "4"));
  }

  TEST(FastDiagonalisation, IsChosenWhereCellsDoNotServe)
  {
    const auto choice = [](const Problem &problem, Coarsening coarsening) {
      MultigridOptions options;
      options.coarsening = coarsening;
      const Grid grid = grid_of(problem);
      return std::string(choose_coarsening(grid, options).word());
    };
    Problem problem = box(2, 2);
    EXPECT_EQ(choice(problem, Coarsening::automatic), "fast_diagonalisation");
    EXPECT_EQ(choice(problem, Coarsening::vertices), "vertices");
    EXPECT_EQ(choice(problem, Coarsening::cells), "cells");
    problem.cell_coefficient[0] = "1+x*x+y"; // no product
    EXPECT_EQ(choice(problem, Coarsening::automatic), "vertices");
    EXPECT_THROW(choice(problem, Coarsening::fast_diagonalisation), std::invalid_argument);
    problem = box(2, 2);
    problem.corners[0].clear();
    EXPECT_EQ(choice(problem, Coarsening::automatic), "cells"); // these do
    EXPECT_EQ(choice(problem, Coarsening::fast_diagonalisation), "fast_diagonalisation");
    problem = box(2, 2);
    problem.coarse_cells[1] = 700; // 2100 unknowns
    EXPECT_EQ(choice(problem, Coarsening::automatic), "vertices");
    problem.coarse_cells[1] = 4;
    problem.corners[0] = {-0.5, -0.5 + 1e-8, 0., 1.}; // rounding
    EXPECT_EQ(choice(problem, Coarsening::automatic), "vertices");
    // Nothing but the ends of layers holds the solution: their small eigenvalues count.
    problem = box(2, 2);
    problem.coarse_cells[0] = 64;
    problem.corners[0].clear();
    problem.cell_coefficient[0] = "floor((x+0.5)*128/3)-2*floor((x+0.5)*64/3)<0.5?1:1e8";
    problem.coefficient_in_cell = InCell::constant;
    EXPECT_EQ(choice(problem, Coarsening::automatic), "fast_diagonalisation");
    problem.boundary = {D, D, N, N, N, N};
    EXPECT_EQ(choice(problem, Coarsening::automatic), "vertices");
  }

  TEST(LinePencil, OfEqualCellsIsTheLineOperator)
  {
    for (const int degree : {1, 4})
      for (const auto &[lower, upper] : {std::pair{D, D}, {D, N}, {N, N}, {P, P}})
        for (const std::int64_t cells : {1, 2, 5})
        {
          const CellBasis basis = make_cell_basis(degree);
          LinePencil pencil;
          pencil.c.assign(static_cast<std::size_t>(cells), 1.);
          pencil.mass = pencil.c;
          pencil.lower = lower;
          pencil.upper = upper;
          const std::vector<double> found = line_operator(basis, pencil),
                                    expected = line_operator(basis, cells, lower, upper);
          ASSERT_EQ(found.size(), expected.size());
          for (std::size_t i = 0; i < found.size(); ++i)
            EXPECT_NEAR(found[i], expected[i], 1e-12 * basis.lambda[degree]);
        }
  }
} // namespace
} // namespace tensormg
