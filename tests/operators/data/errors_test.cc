// Projection, means and errors of functions whose integrals are known.
// ranks: 1 3
#include "operators/data/errors.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"

namespace
{
using namespace tensormg;

Problem box(int dim, int degree)
{
  Problem problem;
  problem.dim = dim;
  problem.degree = degree;
  problem.lower = {-1., 0.5, 0.};
  problem.upper = {1., 2., 3.};
  problem.coarse_cells = {5, 3, dim == 3 ? 2 : 1};
  problem.refinements = 1;
  return problem;
}

struct Case
{
  Problem problem;
  CellBasis basis = make_cell_basis(problem.degree);
  Grid grids = make_grid(problem, MPI_COMM_WORLD);
  const LevelGrid &grid() const { return grids.finest(); }
  Vector<double> projected(const std::string &expression) const
  {
    return project(problem, grid(), basis, expression);
  }
  Errors errors(const Vector<double> &u) const { return compute_errors(problem, grid(), basis, u); }
};

class Polynomials : public testing::TestWithParam<std::tuple<int, int>>
{};

TEST_P(Polynomials, AreExact)
{
  const auto [dim, degree] = GetParam();
  Case data{box(dim, degree)};
  data.problem.constants = {{"p", degree}};
  data.problem.exact_solution = "x^p*y - 2*y^p + 0.3";
  data.problem.exact_gradient = {"p*x^(p-1)*y", "x^p-2*p*y^(p-1)", ""};
  if (dim == 3)
  {
    data.problem.exact_solution += " + z^p*(1-x)";
    data.problem.exact_gradient[0] += "-z^p";
    data.problem.exact_gradient[2] = "p*z^(p-1)*(1-x)";
  }
  const Vector<double> u = data.projected(data.problem.exact_solution);
  const Errors errors = data.errors(u);
  const double scale = std::pow(3., degree);
  EXPECT_LT(errors.l2, 1e-13 * scale);
  ASSERT_TRUE(errors.has_h1);
  EXPECT_LT(errors.h1_seminorm, 2e-12 * scale);

  const Block &block = u.block();
  for (std::int64_t row = 0; row < block.planes() * block.rows_per_plane() * block.n; ++row)
    for (std::int64_t cx = block.cells[0]; cx < block.pitch; ++cx)
      ASSERT_EQ(u[row * block.pitch + cx], 0.);
}

INSTANTIATE_TEST_SUITE_P(
    Errors, Polynomials, testing::Combine(testing::Values(2, 3), testing::Values(1, 2, 3, 5, 8)));

TEST(Errors, OfTheZeroFunctionAreNorms)
{
  const double pi = std::acos(-1.);
  Case data{box(3, 4)};
  data.problem.exact_solution = "sin(pi*x)*exp(y)";
  data.problem.exact_gradient = {"pi*cos(pi*x)*exp(y)", "sin(pi*x)*exp(y)", "0"};
  const Errors errors = data.errors(Vector<double>(data.grid().block));
  // int sin^2 = int cos^2 = 1 over x, int exp(2y) over y, length 3 in z
  const double square = 3. * (std::exp(4.) - std::exp(1.)) / 2.;
  EXPECT_NEAR(errors.l2, std::sqrt(square), 1e-9);
  EXPECT_NEAR(errors.h1_seminorm, std::sqrt((pi * pi + 1.) * square), 1e-8);
  EXPECT_NEAR(
      mean_value(data.grid(), data.basis, data.projected("x^2*y*z")), 1. / 3. * 1.25 * 1.5, 1e-14);
}

TEST(Errors, InTwoDimensions)
{
  Case data{box(2, 3)};
  data.problem.exact_solution = "3";
  Errors errors = data.errors(Vector<double>(data.grid().block));
  EXPECT_NEAR(errors.l2, std::sqrt(9. * 2. * 1.5), 1e-14);
  EXPECT_FALSE(errors.has_h1);
  EXPECT_NEAR(mean_value(data.grid(), data.basis, data.projected("x+y")), 1.25, 1e-14);
}

TEST(Errors, ConvergeWithTheDegree)
{
  double last = 1.;
  for (int degree = 1; degree <= 8; ++degree)
  {
    Case data{box(2, degree)};
    data.problem.exact_solution = "exp(sin(2*x)*y)";
    const double l2 = data.errors(data.projected(data.problem.exact_solution)).l2;
    EXPECT_LT(l2, 0.2 * last);
    last = l2;
  }
  EXPECT_LT(last, 1e-8);
}

TEST(Errors, SingularProblemsAreComparedWithoutMeans)
{
  Case data{box(3, 3)};
  data.problem.boundary.fill(BoundaryKind::neumann);
  data.problem.boundary[2] = data.problem.boundary[3] = BoundaryKind::periodic;
  data.problem.exact_solution = "x^2*z";
  const Vector<double> u = data.projected("x^2*z + 1000");
  EXPECT_LT(data.errors(u).l2, 1e-11);
  data.problem.exact_solution = "x^2*z - 5e5 + x"; // x has mean zero
  EXPECT_NEAR(data.errors(u).l2, std::sqrt(2. / 3. * 1.5 * 3.), 1e-8);
  data.problem.boundary[0] = BoundaryKind::dirichlet;
  data.problem.exact_solution = "x^2*z";
  EXPECT_NEAR(data.errors(u).l2, 1000. * 3., 1e-8);
}

TEST(Errors, OfNumbersWhoseSquaresLeaveTheRangeOfDoublePrecision)
{
  Case data{box(3, 2)};
  const Vector<double> zero(data.grid().block);
  data.problem.exact_solution = "1 + x";
  data.problem.exact_gradient = {"1", "x", "z"};
  const Errors one = data.errors(zero);
  for (const std::string size : {"1e-300", "1e-200", "1e-110", "1e-90", "1e140", "1e200", "1e300"})
  {
    SCOPED_TRACE(size);
    const double factor = std::stod(size);
    data.problem.exact_solution = size + "*(1+x)";
    data.problem.exact_gradient = {size, size + "*x", size + "*z"};
    const Errors errors = data.errors(zero);
    EXPECT_NEAR(errors.l2 / factor / one.l2, 1., 1e-13);
    EXPECT_NEAR(errors.h1_seminorm / factor / one.h1_seminorm, 1., 1e-13);
    // Also where the difference, not the solution, is that small.
    Vector<double> u = data.projected(data.problem.exact_solution);
    EXPECT_LT(data.errors(u).l2, 1e-13 * factor);
  }
  data.problem.exact_solution = "0";
  data.problem.exact_gradient = {"0", "0", "0"};
  EXPECT_EQ(data.errors(zero).l2, 0.);
  EXPECT_EQ(data.errors(zero).h1_seminorm, 0.);
  data.problem.exact_solution = "1/0";
  EXPECT_FALSE(std::isfinite(data.errors(zero).l2));
}

TEST(Errors, IncompleteInput)
{
  Case data{box(3, 2)};
  const Vector<double> u(data.grid().block);
  EXPECT_THROW(data.errors(u), std::invalid_argument);
  data.problem.exact_solution = "x";
  data.problem.exact_gradient = {"1", "0", ""};
  EXPECT_THROW(data.errors(u), std::invalid_argument);
  data.problem.exact_gradient = {"1", "0", "0"};
  EXPECT_NO_THROW(data.errors(u));
}
} // namespace
