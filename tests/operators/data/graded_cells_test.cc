// Errors, integrals, fluxes, values at points and fields in files where cells differ in size: exact for polynomials.
// ranks: 1 2
#include <cmath>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/cellwise/cell_coefficients.h"
#include "operators/data/errors.h"
#include "operators/data/solution_numbers.h"
#include "tensormg/graded.h"

namespace tensormg
{
namespace
{
  /// u = x^2 y on (-1, 2) x (0, 1) x (0, 1) with K = 2, 3 for x > 0.5.
  Problem box(int dim)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = 2;
    problem.lower = {-1., 0., 0.};
    problem.upper = {2., 1., 1.};
    problem.coarse_cells = {3, 1, 1};
    problem.refinements = 2;
    problem.corners[0] = {-1., -0.75, 0.5, 2.};
    problem.corners[1] = geometric_corners(0., 1., 4, 40., FineEnd::lower);
    problem.cell_coefficient[0] = "if(x<0.5,2,3)";
    problem.exact_solution = "x*x*y";
    problem.exact_gradient = {"2*x*y", "x*x", "0"};
    problem.boundary_value.fill("x*x*y");
    problem.boundary[4] = problem.boundary[5] = BoundaryKind::neumann;
    problem.boundary_value[4] = problem.boundary_value[5] = "x*y";
    return problem;
  }

  class GradedCells : public testing::TestWithParam<int>
  {
  protected:
    GradedCells()
      : problem_(box(GetParam()))
      , basis_(make_cell_basis(problem_.degree))
      , grid_(make_grid(problem_, MPI_COMM_WORLD))
    {
      add_cell_coefficients(grid_, basis_);
      u_ = project(problem_, grid_.finest(), basis_, "x*x*y");
    }

    Problem problem_;
    CellBasis basis_;
    Grid grid_;
    Vector<double> u_;
  };

  TEST_P(GradedCells, Errors)
  {
    const Errors none = compute_errors(problem_, grid_.finest(), basis_, u_);
    EXPECT_LT(none.l2, 1e-14);
    EXPECT_LT(none.h1_seminorm, 1e-12);
    // Those of zero are the norms of the solution.
    const Errors all =
        compute_errors(problem_, grid_.finest(), basis_, Vector<double>(grid_.finest().block));
    EXPECT_NEAR(all.l2, std::sqrt(33. / 5. / 3.), 1e-13);
    EXPECT_NEAR(all.h1_seminorm, std::sqrt(4. * 9. / 3. / 3. + 33. / 5.), 1e-13);
  }

  TEST_P(GradedCells, Numbers)
  {
    const SolutionNumbers numbers = solution_numbers(grid_.problem, grid_.finest(), basis_, u_);
    EXPECT_NEAR(numbers.integral, 1.5, 1e-13);
    EXPECT_NEAR(numbers.mean, 0.5, 1e-13);
    EXPECT_NEAR(numbers.l2_norm, std::sqrt(33. / 5. / 3.), 1e-13);
    // -K du/dx at x = -1 and K du/dx at x = 2, then in y: K x^2 over the side.
    const double of_y = 2. * 1.125 / 3. + 3. * 7.875 / 3.;
    EXPECT_NEAR(*numbers.side_flux[0], 2., 1e-12);
    EXPECT_NEAR(*numbers.side_flux[1], 6., 1e-12);
    EXPECT_NEAR(*numbers.side_flux[2], -of_y, 1e-11);
    EXPECT_NEAR(*numbers.side_flux[3], of_y, 1e-11);
    if (problem_.dim == 3) // the given ones
    {
      EXPECT_NEAR(*numbers.side_flux[4], 0.75, 1e-13);
    }
  }

  TEST_P(GradedCells, ValuesAtPoints)
  {
    const auto values = values_at(grid_.finest(), basis_, u_,
        {{-0.9, 0.01, 0.3}, {-0.75, 0.5, 0.5}, {2., 1., 1.}, {-1., 0., 0.}, {1.9, 0.999, 0.}});
    ASSERT_EQ(values.size(), 5U);
    for (const PointValue &value : values)
    {
      const auto [x, y, z] = value.point;
      EXPECT_NEAR(value.value, x * x * y, 1e-13);
      EXPECT_NEAR(value.gradient[0], 2. * x * y, 1e-11);
      EXPECT_NEAR(value.gradient[1], x * x, 1e-11);
      EXPECT_NEAR(value.gradient[2], 0., 1e-11);
    }
  }

  TEST_P(GradedCells, MeansCountVolumes)
  {
    const LevelGrid &level = grid_.finest();
    EXPECT_NEAR(mean_value(level, basis_, u_), 0.5, 1e-13);
    Vector<double> u = project(problem_, level, basis_, "x*x*y");
    EXPECT_NEAR(subtract_mean(level, basis_, u), 0.5, 1e-13);
    EXPECT_NEAR(mean_value(level, basis_, u), 0., 1e-13);
    EXPECT_GT(std::abs(mean_of_cells(level, basis_, u)), 0.01);
  }

  INSTANTIATE_TEST_SUITE_P(Dimensions, GradedCells, testing::Values(2, 3));
} // namespace
} // namespace tensormg
