// Functions given as expressions, evaluated on the device, against muParser on the host: every function of
// the language, right-hand sides with every kind of boundary, integrals, errors; what the device cannot do.
#include "operators/data/device_functions.h"

#include <cmath>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/cellwise/cell_coefficients.h"
#include "tensormg/graded.h"
#include "tests/support/boxes.h"
#include "tests/support/guarded.h"

namespace tensormg
{
namespace
{
  class DeviceFunctions : public testing::Test
  {
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }

  protected:
    Stream stream() const { return stream_->get(); }

    /// The relative difference of the right-hand sides; -1 if the device cannot do it.
    double compare(const Problem &problem) const
    {
      Grid grid = make_grid(problem, MPI_COMM_SELF);
      const CellBasis basis = make_cell_basis(problem.degree);
      add_cell_coefficients(grid, basis);
      const Block &block = grid.finest().block;
      DeviceVector<double> b(block, stream());
      device::fill_bytes(
          b.data(), 0x7f, static_cast<std::size_t>(b.size()) * sizeof(double), stream());
      if (!assemble_on_device(problem, grid.finest(), basis, b, stream()))
        return -1.;
      Vector<double> found(block), expected;
      copy_to_host(b, found, stream());
      assemble_right_hand_side(problem, grid.finest(), basis, expected);
      EXPECT_TRUE(test::padding_is_zero(found));
      return test::relative_difference(found, expected);
    }

  private:
    std::unique_ptr<OwnedStream> stream_ = std::make_unique<OwnedStream>();
  };

  // The box of test::box(): x in (-0.5, 1.75), y in (0.25, 1), z in (1, 2.5).
  TEST_F(DeviceFunctions, EveryFunctionOfTheLanguage)
  {
    Problem problem = test::box(3, 2, {3, 2, 1}, 0, "DD");
    for (const char *expression : {"1", "x", "-x+y", "+z", "x*y-z/y", "2^x", "x^2+y^3-z^4", "y^2.5",
             "sin(x)", "cos(y)", "tan(x/2)", "cot(y)", "sec(y)", "csc(z)", "asin(x/2)", "acos(y)",
             "atan(x)", "atan2(x, y)", "sinh(x)", "cosh(x)", "tanh(x)", "asinh(x)", "acosh(z)",
             "atanh(y/2)", "exp(x)", "log(y)", "ln(z)", "log2(z)", "log10(z)", "sqrt(y)",
             "pow(z, x)", "erf(x)", "erfc(x)", "abs(x)", "sign(x)", "rint(3*x)", "int(3*x)",
             "ceil(3*x)", "floor(3*x)", "if(x, y, z)", "min(x, y)", "max(x, y, z)", "sum(x, y, z)",
             "min(x)", "x < y ? x : z", "x <= y", "x > y", "x >= y", "x == x", "x != y",
             "x < 1 && y > 0.5", "x < 1 || y > 0.5", "(x < 1) & (y > 0.5)", "(x < 1) | (y > 0.5)",
             "3*x + 2", "exp(-(x^2+y^2+z^2))*sin(_pi*x)*cos(pi*y)/(1+z)"})
    {
      problem.right_hand_side = expression;
      const double difference = compare(problem);
      EXPECT_GE(difference, 0.) << expression << ": not on the device";
      EXPECT_LT(difference, 1e-12) << expression;
    }
  }

  TEST_F(DeviceFunctions, EveryDegreeAndBoundary)
  {
    for (const int dim : {2, 3})
      for (int degree = 1; degree <= max_degree; ++degree)
        for (const char *boundary : {"DDNNDN", "PPNDPP", "NDPPNN"})
        {
          SCOPED_TRACE(testing::Message() << dim << "D, degree " << degree << ' ' << boundary);
          Problem problem = test::box(dim, degree, {9, 2, 3}, 0, boundary);
          problem.right_hand_side = dim == 3 ? "a*sin(x)*exp(y)+z" : "a*sin(x)*exp(y)";
          problem.constants["a"] = 1.25;
          problem.boundary_value = {"1", "y", "cos(x)", "0", "x+y", "a"};
          const double difference = compare(problem);
          EXPECT_GE(difference, 0.);
          EXPECT_LT(difference, 1e-12);
        }
  }

  /// Cells of many sizes, also along x, where a tile has several.
  void grade(Problem &problem, int directions)
  {
    const std::array<FineEnd, 3> ends{FineEnd::both, FineEnd::lower, FineEnd::upper};
    for (std::size_t d = 0; d < static_cast<std::size_t>(directions); ++d)
      problem.corners[d] = geometric_corners(
          problem.lower[d], problem.upper[d], problem.cells(static_cast<int>(d)), 100., ends[d]);
  }

  TEST_F(DeviceFunctions, GradedCellsAndCoefficientsOfCells)
  {
    for (const int dim : {2, 3})
      for (const char *boundary : {"DDNNDN", "DNDDND", "PPNDPP"})
        for (int directions = 0; directions <= dim; ++directions)
        {
          SCOPED_TRACE(testing::Message() << dim << "D, " << directions << " graded, " << boundary);
          Problem problem = test::box(dim, 2, {19, 4, 3}, 0, boundary);
          grade(problem, directions);
          problem.right_hand_side = "sin(x)*exp(y)";
          problem.boundary_value = {"1", "y", "cos(x)", "0", "x+y", "2"};
          problem.coefficient_in_cell = InCell::mean;
          problem.cell_coefficient[0] = "exp(x+y)";
          problem.cell_coefficient[1] = directions == 1 ? "2+x" : "";
          problem.cell_coefficient[2] = directions == 1 && dim == 3 ? "3" : "";
          const double difference = compare(problem);
          EXPECT_GE(difference, 0.);
          EXPECT_LT(difference, 1e-12);
        }
  }

  TEST_F(DeviceFunctions, LeavesToTheHostWhatItCannotDo)
  {
    Problem problem = test::box(2, 2, {3, 2, 1}, 0, "DD");
    problem.right_hand_side = "avg(x, y)";
    EXPECT_EQ(compare(problem), -1.);
    problem.right_hand_side = "1/(x-x)";
    EXPECT_EQ(compare(problem), -1.);
    problem.right_hand_side = std::string("1");
    problem.boundary_value[2] = "log(x-1.75)";
    EXPECT_EQ(compare(problem), -1.);
    std::string deep = "x"; // more numbers than fit
    for (int i = 0; i < 60; ++i)
      deep = "sin(" + deep + ")*" + std::to_string(i + 2) + ".5";
    EXPECT_FALSE(device_steps(ScalarFunction(deep, 2)).has_value());
    EXPECT_TRUE(device_steps(ScalarFunction("x*y", 2)).has_value());
  }

  TEST_F(DeviceFunctions, IntegralsAndCompatibility)
  {
    for (const int directions : {0, 3})
    {
      Problem problem = test::box(3, 3, {5, 2, 3}, 0, "NN");
      grade(problem, directions);
      problem.right_hand_side = "x-0.625"; // mean zero
      const Grid grid = make_grid(problem, MPI_COMM_SELF);
      const CellBasis basis = make_cell_basis(3);
      const LevelGrid &level = grid.finest();
      const Integrator by = device_integrator(stream());
      EXPECT_NEAR(incompatibility(problem, level, basis, 5, by), 0., 1e-14);
      EXPECT_NO_THROW(check_compatible(problem, level, basis, by));
      problem.right_hand_side = "exp(x)*y-z";
      problem.boundary_value[3] = "x";
      EXPECT_NEAR(incompatibility(problem, level, basis, 5, by),
          incompatibility(problem, level, basis, 5), 1e-13);
      EXPECT_THROW(check_compatible(problem, level, basis, by), std::invalid_argument);
    }
  }

  TEST_F(DeviceFunctions, ErrorsAsOnTheHost)
  {
    for (const int dim : {2, 3})
      for (const char *boundary : {"DD", "NN", "PPNN"})
      {
        Problem problem = test::box(dim, 3, {10, 3, 2}, 0, boundary);
        if (std::string(boundary) != "DD")
          grade(problem, dim);
        problem.exact_solution = "sin(x)*exp(y)+2";
        problem.exact_gradient = {"cos(x)*exp(y)", "sin(x)*exp(y)", dim == 3 ? "0" : ""};
        const Grid grid = make_grid(problem, MPI_COMM_SELF);
        const CellBasis basis = make_cell_basis(3);
        const LevelGrid &level = grid.finest();
        const Vector<double> u = project(problem, level, basis, "sin(x)*exp(y)+0.01*x");
        DeviceVector<double> on_device(level.block, stream());
        copy_to_device(u, on_device, stream());
        const Errors expected = compute_errors(problem, level, basis, u);
        const auto found = errors_on_device(problem, level, basis, on_device, stream());
        ASSERT_TRUE(found.has_value());
        EXPECT_GT(expected.l2, 1e-4);
        EXPECT_NEAR(found->l2, expected.l2, 1e-11 * expected.l2);
        ASSERT_TRUE(found->has_h1);
        EXPECT_NEAR(found->h1_seminorm, expected.h1_seminorm, 1e-11 * expected.h1_seminorm);
        problem.exact_solution = "avg(x, y)";
        EXPECT_FALSE(errors_on_device(problem, level, basis, on_device, stream()).has_value());
      }
  }

  TEST_F(DeviceFunctions, ErrorsWhoseSquaresLeaveTheRangeOfDoublePrecision)
  {
    Problem problem = test::box(2, 3, {10, 3, 1}, 0, "DD");
    const Grid grid = make_grid(problem, MPI_COMM_SELF);
    const CellBasis basis = make_cell_basis(3);
    const LevelGrid &level = grid.finest();
    const DeviceVector<double> zero(level.block, stream());
    for (const std::string size : {"1e-300", "1e-200", "1e200", "1e300"})
    {
      problem.exact_solution = size + "*(1+x)";
      problem.exact_gradient = {size, size + "*y", ""};
      const Errors expected = compute_errors(problem, level, basis, Vector<double>(level.block));
      const auto found = errors_on_device(problem, level, basis, zero, stream());
      ASSERT_TRUE(found.has_value());
      EXPECT_GT(expected.l2 / std::stod(size), 0.1);
      EXPECT_NEAR(found->l2 / expected.l2, 1., 1e-11);
      EXPECT_NEAR(found->h1_seminorm / expected.h1_seminorm, 1., 1e-11);
    }
  }
} // namespace
} // namespace tensormg
