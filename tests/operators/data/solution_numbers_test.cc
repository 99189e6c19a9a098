// Integrals, norms, fluxes and values at points against those of polynomials.
// ranks: 1 2 4
#include "operators/data/solution_numbers.h"

#include <cmath>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/cellwise/cell_coefficients.h"
#include "operators/data/errors.h"
#include "operators/data/functions.h"

namespace tensormg
{
namespace
{
  /// Odd numbers of cells, none of them a cube.
  Problem sample(int dim, int degree)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = degree;
    problem.coarse_cells = {3, 5, dim == 3 ? 7 : 1};
    problem.refinements = 0;
    problem.lower = {-1., 0.5, 2.};
    problem.upper = {1., 1.5, 5.};
    problem.coefficient = 2.5;
    return problem;
  }

  struct Sample
  {
    explicit Sample(const Problem &problem_)
      : problem(problem_)
      , basis(make_cell_basis(problem_.degree))
      , grid(make_grid(problem_, MPI_COMM_WORLD))
    {
      add_cell_coefficients(grid, basis);
    }
    const LevelGrid &level() const { return grid.finest(); }
    Vector<double> projected(const std::string &u) const
    {
      return project(problem, level(), basis, u);
    }
    SolutionNumbers numbers(const std::string &u) const
    {
      return solution_numbers(problem, level(), basis, projected(u));
    }

    Problem problem;
    CellBasis basis;
    Grid grid;
  };

  TEST(SolutionNumbers, IntegralsOfPolynomials)
  {
    for (const int degree : {1, 2, 5})
    {
      SCOPED_TRACE(degree);
      const SolutionNumbers flat = Sample(sample(2, degree)).numbers("x + 2*y");
      EXPECT_NEAR(flat.integral, 4., 1e-12); // mean 0 + 2
      EXPECT_NEAR(flat.mean, 2., 1e-12);
      EXPECT_NEAR(flat.l2_norm, std::sqrt(2. * (4. + 1. / 3. + 4. / 12.)), 1e-12);
      const SolutionNumbers full = Sample(sample(3, degree)).numbers("x*y*z + 3");
      EXPECT_NEAR(full.integral, 18., 1e-12);
      EXPECT_NEAR(full.mean, 3., 1e-12);
      const double square = 9. + 1. / 3. * (13. / 12.) * 13.;
      EXPECT_NEAR(full.l2_norm, std::sqrt(6. * square), 1e-12);
    }
  }

  TEST(SolutionNumbers, ExtremesAreThoseAtGaussPoints)
  {
    const double first = 0.5 - 0.5 / std::sqrt(3.);
    const SolutionNumbers numbers = Sample(sample(2, 1)).numbers("x - y");
    const double from_end = 2. / 3. * first + 1. / 5. * first;
    EXPECT_NEAR(numbers.minimum, -1. - 1.5 + from_end, 1e-12);
    EXPECT_NEAR(numbers.maximum, 1. - 0.5 - from_end, 1e-12);
  }

  TEST(SolutionNumbers, NormsOfNumbersAtTheEndsOfTheRange)
  {
    for (const double size : {1e-300, 1e-200, 1e200, 1e300})
    {
      const Sample sample_of_2(sample(2, 2));
      Vector<double> u = sample_of_2.projected("3");
      for (std::int64_t i = 0; i < u.size(); ++i)
        u[i] *= size;
      const SolutionNumbers numbers =
          solution_numbers(sample_of_2.problem, sample_of_2.level(), sample_of_2.basis, u);
      EXPECT_NEAR(numbers.l2_norm / size, 3. * std::sqrt(2.), 1e-12) << size;
    }
    EXPECT_EQ(Sample(sample(2, 2)).numbers("0").l2_norm, 0.);
  }

  TEST(SolutionNumbers, FluxesOfPolynomials)
  {
    for (const int degree : {2, 3})
    {
      Problem problem = sample(3, degree);
      const std::string u = "x*x + x*y*z - 2*z";
      problem.boundary_value.fill(u);
      problem.boundary[1] = BoundaryKind::neumann;
      problem.boundary_value[1] = "2.5*(2*x + y*z)"; // a du/dn
      const auto flux = Sample(problem).numbers(u).side_flux;
      // Integrals of a du/dn: u_x = 2x + yz, u_y = xz, u_z = xy - 2.
      EXPECT_NEAR(*flux[0], -2.5 * 3. * (-2. + 3.5), 1e-11);
      EXPECT_NEAR(*flux[1], 2.5 * 3. * (2. + 3.5), 1e-11);
      EXPECT_NEAR(*flux[2], 0., 1e-11);
      EXPECT_NEAR(*flux[3], 0., 1e-11);
      EXPECT_NEAR(*flux[4], 2.5 * 2. * 2., 1e-11);
      EXPECT_NEAR(*flux[5], -2.5 * 2. * 2., 1e-11);
    }
  }

  TEST(SolutionNumbers, FluxesOfRobinSides)
  {
    for (const int dim : {2, 3})
      for (int side = 0; side < 2 * dim; ++side)
      {
        Problem problem = sample(dim, 2);
        const std::string u = "3*x + 2*y*y - x*y",
                          r = side / 2 == 1 ? "if(x<0,0.5,3)" : "if(y<0.9,2,3)";
        if (side / 2 == 1)
          problem.coarse_cells[0] = 4;
        const std::string outwards = side % 2 == 0 ? "-" : "";
        const char *derivatives[] = {"2.5*(3 - y)", "2.5*(4*y - x)", "0"};
        problem.boundary_value.fill(u);
        Problem neumann = problem;
        neumann.boundary[side] = BoundaryKind::neumann;
        neumann.boundary_value[side] = outwards + derivatives[side / 2];
        problem.boundary[side] = BoundaryKind::robin;
        problem.robin_coefficient[side] = r;
        problem.boundary_value[side] = neumann.boundary_value[side] + "+" + r + "*(" + u + ")";
        const auto flux = Sample(problem).numbers(u).side_flux,
                   expected = Sample(neumann).numbers(u).side_flux;
        for (int s = 0; s < 2 * dim; ++s)
          EXPECT_NEAR(*flux[s], *expected[s], 1e-11) << side;
      }
  }

  TEST(SolutionNumbers, AJumpAtTheSideIsPenalised)
  {
    Problem problem = sample(2, 2);
    problem.boundary_value.fill("1");
    problem.boundary[2] = problem.boundary[3] = BoundaryKind::periodic;
    problem.boundary_value[2] = problem.boundary_value[3] = "0";
    const auto flux = Sample(problem).numbers("1.5").side_flux;
    // - a 2 p(p+1) / h (u - g) times the length of the side
    EXPECT_NEAR(*flux[0], -2.5 * 2. * 6. / (2. / 3.) * 0.5, 1e-11);
    EXPECT_NEAR(*flux[1], *flux[0], 1e-11);
    EXPECT_FALSE(flux[2].has_value());
    EXPECT_FALSE(flux[3].has_value());
    EXPECT_FALSE(flux[4].has_value());
  }

  TEST(SolutionNumbers, AreTheSameBitsEachTime)
  {
    const Sample in_3d(sample(3, 3));
    const Vector<double> u = in_3d.projected("sin(3*x)*exp(y) + z");
    const SolutionNumbers first = solution_numbers(in_3d.problem, in_3d.level(), in_3d.basis, u),
                          second = solution_numbers(in_3d.problem, in_3d.level(), in_3d.basis, u);
    EXPECT_EQ(first.integral, second.integral);
    EXPECT_EQ(first.l2_norm, second.l2_norm);
    EXPECT_EQ(first.side_flux, second.side_flux);
    double largest = first.integral; // all ranks know the same
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    EXPECT_EQ(first.integral, largest);
  }

  TEST(ValuesAt, PolynomialsInsideAndOnFaces)
  {
    for (const int dim : {2, 3})
      for (const int degree : {2, 5})
      {
        const Sample of(sample(dim, degree));
        const Vector<double> u = of.projected(dim == 3 ? "x*y*z + y^2" : "x*y + y^2");
        std::vector<std::array<double, 3>> points{{0.123, 0.777, 3.21}, {-1. / 3., 0.7, 2.},
            {-1., 0.5, 2.}, {1., 1.5, 5.}, {1. / 3., 0.9, 2. + 3. / 7.}};
        if (dim == 2)
          for (auto &point : points)
            point[2] = 0.;
        const std::vector<PointValue> values = values_at(of.level(), of.basis, u, points);
        ASSERT_EQ(values.size(), points.size());
        for (std::size_t i = 0; i < points.size(); ++i)
        {
          const auto [x, y, at_z] = points[i];
          const double z = dim == 3 ? at_z : 1.;
          EXPECT_EQ(values[i].point, points[i]);
          EXPECT_NEAR(values[i].value, x * y * z + y * y, 1e-12);
          EXPECT_NEAR(values[i].gradient[0], y * z, 1e-11);
          EXPECT_NEAR(values[i].gradient[1], x * z + 2. * y, 1e-11);
          EXPECT_NEAR(values[i].gradient[2], dim == 3 ? x * y : 0., 1e-11);
        }
      }
  }

  TEST(ValuesAt, FacesHaveTheMeanOfTheCells)
  {
    const Sample of(sample(2, 1));
    // The number of the cell, in x and y.
    const Vector<double> u = of.projected("floor((x + 1)/2*3) + 10*floor((y - 0.5)*5)");
    const std::vector<PointValue> values = values_at(of.level(), of.basis, u,
        {{0., 0.6, 0.}, {-1. / 3., 0.6, 0.}, {-1. / 3., 0.9, 0.}, {1., 1.5, 0.}, {2., 1., 0.}});
    EXPECT_NEAR(values[0].value, 1., 1e-12);
    EXPECT_NEAR(values[1].value, 0.5, 1e-12);
    EXPECT_NEAR(values[2].value, 0.5 + 15., 1e-12);
    EXPECT_NEAR(values[3].value, 42., 1e-12);
    EXPECT_TRUE(std::isnan(values[4].value));
    EXPECT_TRUE(values_at(of.level(), of.basis, u, {}).empty());
  }
} // namespace
} // namespace tensormg
