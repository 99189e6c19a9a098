// The operator with coefficients of each cell against the matrix that deal.II assembles; what the coefficients of coarser levels are, and
// what is refused. Every rank has a part.
// ranks: 1 2 4
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/cellwise/cell_coefficients.h"
#include "operators/constant/laplace_operator.h"
#include "operators/data/functions.h"
#include "tensormg/graded.h"
#include "tests/support/sanitized.h"
#include "tests/support/sipg_oracle.h"

namespace tensormg
{
namespace
{
  constexpr BoundaryKind D = BoundaryKind::dirichlet, N = BoundaryKind::neumann,
                         P = BoundaryKind::periodic, R = BoundaryKind::robin;

  /// Sides of boxes: with none and with all of them Robin, and with each kind beside it.
  constexpr std::array<BoundaryKind, 6> mixtures[] = {{D, N, D, N, N, D}, {P, P, P, P, N, D},
      {R, D, N, R, R, N}, {P, P, R, N, D, R}, {D, R, P, P, R, R}, {R, R, R, R, R, R}};

  Problem box(int dim, int degree, const std::array<BoundaryKind, 6> &boundary)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = degree;
    problem.lower = {-0.5, 1., 0.};
    problem.upper = {1., 2., 0.75};
    problem.coarse_cells = {3, 5, dim == 3 ? 2 : 1};
    problem.refinements = 0;
    problem.boundary = boundary;
    return problem;
  }

  /// A number between 1e-2 and 1e2 for the cell that has the point.
  double of_cell(const Problem &problem, double seed, const std::array<double, 3> &point)
  {
    double sum = seed;
    for (int d = 0; d < problem.dim; ++d)
    {
      std::int64_t cell = 0;
      while (cell + 1 < problem.cells(d) && problem.corner(d, cell + 1) <= point[d])
        ++cell;
      sum += (2. * d + 1.3) * static_cast<double>(cell);
    }
    return std::pow(10., 2. * std::sin(7. * sum));
  }
  Function function_of_cells(const Problem &problem, double seed)
  {
    return [problem, seed](
               std::size_t n, const double *x, const double *y, const double *z, double *values) {
      for (std::size_t q = 0; q < n; ++q)
        values[q] = of_cell(problem, seed, {x[q], y[q], z[q]});
    };
  }

  /// Likewise for a face on a side, where `point` is of the face or the cell; zero for some.
  double of_face(const Problem &problem, int side, std::array<double, 3> point)
  {
    point[side / 2] = problem.lower[side / 2];
    const double number = of_cell(problem, 11. + side, point);
    return number < 0.1 ? 0. : number;
  }
  void set_robin(Problem &problem)
  {
    for (int side = 0; side < 2 * problem.dim; ++side)
    {
      const std::string name = std::string("r_") + side_names[side];
      problem.robin_coefficient[side] = name;
      problem.functions[name] = [problem, side](std::size_t n, const double *x, const double *y,
                                    const double *z, double *values) {
        for (std::size_t q = 0; q < n; ++q)
          values[q] = of_face(problem, side, {x[q], y[q], z[q]});
      };
    }
  }

  void expect_assembled(Problem problem, bool is_tensor)
  {
    SCOPED_TRACE(testing::Message() << "dim " << problem.dim << " degree " << problem.degree);
    const test::CellFunctions cells{
        [&](int d, const auto &center) { return of_cell(problem, is_tensor ? d : 0., center); },
        [&](const auto &center) { return of_cell(problem, 5., center); },
        [&](int side, const auto &center) { return of_face(problem, side, center); }};
    for (int d = 0; d < (is_tensor ? problem.dim : 1); ++d)
    {
      problem.cell_coefficient[d] = std::string("k") + std::to_string(d);
      problem.functions[problem.cell_coefficient[d]] = function_of_cells(problem, d);
    }
    problem.reaction = "c";
    problem.functions["c"] = function_of_cells(problem, 5.);
    set_robin(problem);
    const CellBasis basis = make_cell_basis(problem.degree);
    Grid grid = make_grid(problem, MPI_COMM_WORLD);
    add_cell_coefficients(grid, basis);
    problem.coefficient = grid.problem.coefficient;
    const auto matrix = test::assemble_sipg(problem, basis, cells);
    const LevelGrid &level = grid.finest();
    const Block &block = level.block;
    LaplaceOperator<double> op(level, basis, laplace::Backend::cpu);
    Vector<double> x(block), y(block);
    const auto for_entries = [&](auto &&use) {
      for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
        for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
          for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
            for (int k = 0; k < block.nz(); ++k)
              for (int j = 0; j < block.n; ++j)
                for (int i = 0; i < block.n; ++i)
                  use(block.index(cx, cy, cz, i, j, k),
                      test::sipg_index(problem,
                          {cx + level.offset[0], cy + level.offset[1], cz + level.offset[2]},
                          {i, j, k}));
    };
    const auto number = [](std::int64_t row) {
      return std::sin(0.7 * static_cast<double>(row * row % 101));
    };
    for_entries([&](std::int64_t at, std::int64_t row) { x[at] = number(row); });
    op.vmult(y, x);
    double difference = 0., largest = 0.;
    for_entries([&](std::int64_t at, std::int64_t row) {
      double sum = 0.;
      for (unsigned column = 0; column < matrix.n(); ++column)
        sum += matrix(static_cast<unsigned>(row), column) * number(column);
      difference = std::max(difference, std::abs(sum - y[at]));
      largest = std::max(largest, std::abs(sum));
    });
    EXPECT_LT(difference, 1e-12 * largest);
  }

  /// Every rank assembles the whole matrix: one alone takes all degrees.
  bool few()
  {
    int n_ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    return test::is_sanitized || n_ranks > 1;
  }

  TEST(CellwiseOperator, IsTheAssembledMatrix)
  {
    for (const auto &sides : mixtures)
      for (const bool is_tensor : {false, true})
      {
        for (const int degree : few() ? std::vector{2} : std::vector{1, 2, 3, 5})
          expect_assembled(box(2, degree, sides), is_tensor);
        for (const int degree : few() ? std::vector{1} : std::vector{1, 2, 3})
          expect_assembled(box(3, degree, sides), is_tensor);
      }
  }

  TEST(CellwiseOperator, OfGradedCellsIsTheAssembledMatrix)
  {
    for (const auto &sides : mixtures)
      for (const bool is_tensor : {false, true})
        for (const int dim : {2, 3})
          for (const int degree : few() ? std::vector{1} : std::vector{1, 5 - dim})
          {
            Problem problem = box(dim, degree, sides);
            problem.corners[0] = {-0.5, -0.4, 0.3, 1.};
            problem.corners[1] = geometric_corners(1., 2., 5, 30., FineEnd::upper);
            if (dim == 3)
              problem.corners[2] = tanh_corners(0., 0.75, 2, 4., FineEnd::lower);
            expect_assembled(problem, is_tensor);
          }
  }

  /// Of a function at the middles of the cells of the finest level in a cell of another one; cells outside of the box are those of its
  /// periodic continuation.
  double mean_of_children(const Problem &problem, const LevelGrid &level,
      const std::array<std::int64_t, 3> &children, const std::array<std::int64_t, 3> &cell,
      const auto &function)
  {
    double sum = 0.;
    for (std::int64_t z = 0; z < children[2]; ++z)
      for (std::int64_t y = 0; y < children[1]; ++y)
        for (std::int64_t x = 0; x < children[0]; ++x)
        {
          const std::array<std::int64_t, 3> child{x, y, z};
          std::array<double, 3> point{};
          for (int d = 0; d < problem.dim; ++d)
          {
            const std::int64_t global =
                (cell[d] + level.offset[d] + level.global_cells[d]) % level.global_cells[d];
            point[d] = problem.lower[d] +
                (static_cast<double>(global * children[d] + child[d]) + 0.5) * problem.cell_size(d);
          }
          sum += function(point);
        }
    return sum / static_cast<double>(children[0] * children[1] * children[2]);
  }

  TEST(CellwiseOperator, CoarserCellsHaveTheMeanOfTheirChildren)
  {
    for (const int dim : {2, 3})
    {
      Problem problem = box(dim, 1, mixtures[1]);
      problem.refinements = 3;
      problem.cell_coefficient[0] = "k";
      problem.functions["k"] = function_of_cells(problem, 1.);
      Grid grid = make_grid(problem, MPI_COMM_WORLD);
      add_cell_coefficients(grid, make_cell_basis(1));
      for (const LevelGrid &level : grid.levels)
      {
        // Also behind the sides, which are periodic in x and y.
        std::array<std::int64_t, 3> children{};
        for (int d = 0; d < 3; ++d)
          children[d] = d < dim ? grid.finest().global_cells[d] / level.global_cells[d] : 1;
        const auto mean = [&](auto... cell) {
          return mean_of_children(problem, level, children, {cell...},
              [&](const auto &point) { return of_cell(problem, 1., point); });
        };
        const CellArray &k = level.cells->k[0];
        for (std::int64_t cz = 0; cz < level.block.cells[2]; ++cz)
          for (std::int64_t cy = -1; cy <= level.block.cells[1]; ++cy)
            for (std::int64_t cx = -1; cx <= level.block.cells[0]; ++cx)
            {
              const bool is_corner =
                  (cx < 0 || cx >= level.block.cells[0]) && (cy < 0 || cy >= level.block.cells[1]);
              const double expected = mean(cx, cy, cz);
              if (!is_corner)
              {
                EXPECT_NEAR(k(cx, cy, cz), expected, 1e-12 * expected);
              }
            }
      }
    }
  }

  TEST(CellwiseOperator, CoarserFacesHaveTheMeanOfTheirChildren)
  {
    for (const int dim : {2, 3})
    {
      Problem problem = box(dim, 1, mixtures[5]);
      problem.refinements = 3;
      set_robin(problem);
      Grid grid = make_grid(problem, MPI_COMM_WORLD);
      add_cell_coefficients(grid, make_cell_basis(1));
      for (const LevelGrid &level : grid.levels)
        for (int side = 0; side < 2 * dim; ++side)
        {
          const std::vector<double> &faces = level.cells->robin[side];
          std::array<std::int64_t, 3> children{1, 1, 1};
          for (int d = 0; d < dim; ++d)
            children[d] = d == side / 2 ? 1 : grid.finest().global_cells[d] / level.global_cells[d];
          std::size_t face = 0;
          if (!faces.empty())
            for_side_cells(level.block, side, [&](auto... cell) {
              const double expected = mean_of_children(problem, level, children, {cell...},
                  [&](const auto &point) { return of_face(problem, side, point); });
              EXPECT_NEAR(faces[face++], expected, 1e-12 * expected);
            });
          EXPECT_EQ(face, faces.size());
          EXPECT_EQ(faces.empty(), !is_closed(level.sides[side]));
        }
    }
  }

  TEST(CellwiseOperator, RefusesWhatIsNoCoefficient)
  {
    const auto refused = [](const auto &change, const std::string &word) {
      Problem problem = box(2, 2, mixtures[0]);
      change(problem);
      Grid grid = make_grid(problem, MPI_COMM_SELF);
      try
      {
        add_cell_coefficients(grid, make_cell_basis(2));
        ADD_FAILURE() << word << " was taken";
      }
      catch (const ExpressionError &error)
      {
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
      }
    };
    refused([](Problem &p) { p.cell_coefficient[0] = "1+x"; }, "in the middle and");
    refused(
        [](Problem &p) { p.cell_coefficient[0] = "if(x<0.1,1,2)"; }, "in the cell at (0.25, 1.1)");
    refused([](Problem &p) { p.cell_coefficient[0] = "if(x<0.5,1,-2)"; }, "is -2, allowed: > 0");
    refused([](Problem &p) { p.cell_coefficient[0] = "if(x<0.5,1,0)"; }, "is 0, allowed: > 0");
    refused([](Problem &p) { p.cell_coefficient[0] = "1/0"; }, "infinite");
    refused([](Problem &p) { p.reaction = "if(x<0.5,1,-1)"; }, "problem.reaction");
    const auto robin = [](const char *r) {
      return [r](Problem &p) {
        p.boundary[1] = BoundaryKind::robin;
        p.robin_coefficient[1] = r;
      };
    };
    refused(robin("1+y"), "boundary.right_robin_coefficient");
    refused(robin("if(y<1.15,1,2)"), "near a corner (allowed: one value per face");
    refused(robin("if(y<1.15,1,2)"), "on the face at (1, 1.1)");
    refused(robin("if(y<1.2,1,-2)"), "is -2, allowed: >= 0, on the face at (1, 1.3)");
    refused(robin("1/0"), "infinite or not a number on the face at (1, 1.1)");
    refused(robin("log(-1)"), "infinite or not a number");
    refused(
        [&](Problem &p) {
          p.boundary.fill(BoundaryKind::robin);
          p.robin_coefficient.fill("0");
        },
        "boundary.left_robin_coefficient");
    Problem mean = box(2, 2, mixtures[0]);
    mean.cell_coefficient[0] = "1+x";
    mean.coefficient_in_cell = InCell::mean;
    robin("1+y")(mean);
    Grid grid = make_grid(mean, MPI_COMM_SELF);
    add_cell_coefficients(grid, make_cell_basis(2));
    EXPECT_NEAR(grid.finest().cells->k[0](1, 0, 0), 1.25, 1e-14);
    EXPECT_NEAR(grid.finest().cells->robin[1][0], 2.1, 1e-14);
  }
} // namespace
} // namespace tensormg
