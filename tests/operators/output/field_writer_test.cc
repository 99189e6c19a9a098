// What the solution files show: coordinates and values as they are, wherever the box lies and however large they are.
// ranks: 1 2
#include "operators/output/field_writer.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/cellwise/cell_coefficients.h"
#include "operators/data/errors.h"
#include "operators/output/field_output.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/vtu.h"

namespace tensormg
{
namespace
{
  struct Written
  {
    FieldOutput output;
    std::map<std::string, test::VtuField> fields;
  };

  /// u is the projection of this.
  Written written(
      const Problem &problem, const std::string &u, const FieldOutputOptions &options = {})
  {
    const test::TemporaryDirectory directory(MPI_COMM_WORLD);
    const CellBasis basis = make_cell_basis(problem.degree);
    Grid grid = make_grid(problem, MPI_COMM_WORLD);
    add_cell_coefficients(grid, basis);
    const Vector<double> x = project(problem, grid.finest(), basis, u);
    Written result;
    result.output = write_field_output(grid, basis, x, directory / "a", options);
    MPI_Barrier(MPI_COMM_WORLD);
    const std::string file =
        grid.n_ranks == 1 ? "a.vtu" : "a.000" + std::to_string(grid.rank) + ".vtu";
    result.fields = test::read_vtu(directory / file);
    if (grid.n_ranks > 1)
    {
      // The record announces what the pieces have.
      const std::string record = test::content(result.output.path);
      for (const auto &[name, field] : result.fields)
        if (const std::size_t at = record.find("Name=\"" + name + "\""); at != std::string::npos)
        {
          EXPECT_EQ(record.rfind("type=\"" + field.type, at), at - field.type.size() - 8) << name;
        }
      EXPECT_NE(
          record.find(options.converged ? ">1</DataArray>" : ">0</DataArray>"), std::string::npos);
    }
    return result;
  }

  /// 8 x 16 cells of degree 2, on all ranks, between these corners.
  Written written(const std::string &u, const std::string &exact = "",
      const std::array<double, 3> &lower = {0., 0., 0.},
      const std::array<double, 3> &upper = {1., 1., 1.})
  {
    Problem problem;
    problem.dim = 2;
    problem.degree = 2;
    problem.coarse_cells = {1, 2, 1};
    problem.refinements = 3;
    problem.lower = lower;
    problem.upper = upper;
    problem.exact_solution = exact;
    return written(problem, u);
  }

  /// Odd numbers of cells that are no cubes.
  Problem odd_problem(int dim, int degree)
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

  TEST(FieldWriter, CoordinatesFarFromTheOrigin)
  {
    const auto fields = written("1", "", {0., 5400000., 0.}, {100., 5400100., 0.}).fields;
    EXPECT_EQ(fields.at("").type, "Float64");
    const std::vector<double> &points = fields.at("").values;
    std::set<double> rows;
    for (std::size_t i = 1; i < points.size(); i += 3)
      rows.insert(points[i]);
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    EXPECT_EQ(rows.size(), 2 * 16U / static_cast<unsigned int>(ranks) + 1);
    double before = *rows.begin();
    for (const double y : rows)
    {
      EXPECT_TRUE(y == *rows.begin() || y - before == 3.125) << y;
      before = y;
    }
  }

  TEST(FieldWriter, ValuesOutsideOfSinglePrecision)
  {
    for (const std::string size : {"1e40", "1e-45", "1e300", "1e-300", "1e-35"})
    {
      SCOPED_TRACE(size);
      const Written result = written(size + "*(x+1)");
      EXPECT_EQ(result.output.in_double, std::vector<std::string>{"u"});
      EXPECT_EQ(result.fields.at("u").type, "Float64");
      const std::vector<double> &points = result.fields.at("").values,
                                &u = result.fields.at("u").values;
      for (std::size_t i = 0; i < u.size(); ++i)
        EXPECT_NEAR(u[i] / std::stod(size), points[3 * i] + 1., 1e-13);
    }
  }

  TEST(FieldWriter, ValuesThatHardlyVary)
  {
    const Written result = written("1e6 + 1e-3*x", "0");
    EXPECT_EQ(result.output.in_double, (std::vector<std::string>{"u", "error"}));
    const std::vector<double> &u = result.fields.at("u").values;
    const auto [least, largest] = std::minmax_element(u.begin(), u.end());
    EXPECT_NEAR(*largest - *least, 1e-3, 1e-8);
    EXPECT_EQ(result.fields.at("exact").type, "Float32");
  }

  TEST(FieldWriter, OrdinaryValuesAreInSinglePrecision)
  {
    for (const std::string u : {"1", "0", "x - y", "1e-9*x", "300 + 20*x", "sin(2*pi*x)*sin(pi*y)",
             "exp(-1000*x)", "1e30*x"})
    {
      const Written result = written(u, u);
      for (const char *name : {"u", "exact", "rank"})
        EXPECT_EQ(result.fields.at(name).type, "Float32") << u;
    }
  }

  TEST(FieldWriter, GradientAndFluxAreThoseOfThePolynomial)
  {
    for (const int dim : {2, 3})
      for (const int degree : {1, 2, 5, 8})
      {
        SCOPED_TRACE(std::to_string(dim) + "D, degree " + std::to_string(degree));
        FieldOutputOptions options;
        options.in_double = options.gradient = options.flux = true;
        options.field = {"T", "K"};
        const std::string p = std::to_string(degree);
        const Written result = written(
            odd_problem(dim, degree), dim == 2 ? "x*y + y^" + p : "x*y*z - 2*z + y^" + p, options);
        EXPECT_TRUE(result.output.in_double.empty()) << "it was asked for";
        const std::vector<double> &points = result.fields.at("").values,
                                  &gradient = result.fields.at("grad T").values,
                                  &flux = result.fields.at("flux T").values;
        EXPECT_EQ(result.fields.at("grad T").type, "Float64");
        EXPECT_EQ(result.fields.at("T [K]").values.size() * 3, gradient.size());
        ASSERT_EQ(gradient.size(), points.size());
        ASSERT_EQ(flux.size(), points.size());
        const double size = degree * std::pow(1.5, degree - 1) + 10.;
        for (std::size_t i = 0; i < points.size(); i += 3)
        {
          const double x = points[i], y = points[i + 1], z = dim == 3 ? points[i + 2] : 1.;
          const std::array<double, 3> expected{
              y * z, x * z + degree * std::pow(y, degree - 1), dim == 3 ? x * y - 2. : 0.};
          for (std::size_t d = 0; d < 3; ++d)
          {
            EXPECT_NEAR(gradient[i + d], expected[d], 1e-12 * size);
            EXPECT_NEAR(flux[i + d], -2.5 * expected[d], 3e-12 * size);
          }
        }
      }
  }

  TEST(FieldWriter, FluxHasTheCoefficientOfTheCell)
  {
    Problem problem = odd_problem(3, 2);
    problem.cell_coefficient = {"if(z<2+3*3/7,2,3)", "if(z<2+3*3/7,4,5)", "7"};
    FieldOutputOptions options;
    options.in_double = options.flux = true;
    const auto fields = written(problem, "x + 2*y + 3*z", options).fields;
    const std::vector<double> &points = fields.at("").values, &flux = fields.at("flux u").values;
    // The points of a cell stand together, 27 of them.
    for (std::size_t cell = 0; cell < points.size(); cell += 81)
    {
      const bool is_low = points[cell + 3 * 13 + 2] < 2. + 9. / 7.;
      for (std::size_t i = cell; i < cell + 81; i += 3)
      {
        EXPECT_NEAR(flux[i], is_low ? -2. : -3., 1e-11);
        EXPECT_NEAR(flux[i + 1], is_low ? -8. : -10., 1e-11);
        EXPECT_NEAR(flux[i + 2], -21., 1e-11);
      }
    }
  }

  TEST(FieldWriter, NumbersOfAVectorAreChosenByEachComponent)
  {
    FieldOutputOptions options;
    options.gradient = true;
    EXPECT_EQ(written(odd_problem(3, 2), "x + y*z", options).fields.at("grad u").type, "Float32");
    const Written large = written(odd_problem(3, 2), "x + 1e6*y + 1e-3*y*z", options);
    EXPECT_EQ(large.fields.at("grad u").type, "Float64");
    EXPECT_EQ(large.output.in_double, std::vector<std::string>{"grad u"});
  }

  TEST(FieldWriter, NamesAreEscapedAndConvergenceIsTold)
  {
    FieldOutputOptions options;
    options.field = {"a<b> \"c\" & d", "\u00b0C"};
    options.gradient = true;
    options.converged = false;
    const auto fields = written(odd_problem(2, 1), "1", options).fields;
    EXPECT_TRUE(fields.contains("a&lt;b&gt; &quot;c&quot; &amp; d [\u00b0C]"));
    EXPECT_TRUE(fields.contains("grad a&lt;b&gt; &quot;c&quot; &amp; d"));
    EXPECT_FALSE(fields.contains("u"));
    EXPECT_EQ(fields.at("converged").values, std::vector<double>{0.});
    EXPECT_EQ(written("1").fields.at("converged").values, std::vector<double>{1.});
  }

  TEST(FieldWriter, TheExactSolutionMayBeAFunctionOfTheProgram)
  {
    Problem problem = odd_problem(2, 2);
    problem.exact_solution = "known";
    problem.functions["known"] = [](std::size_t n, const double *x, const double *, const double *,
                                     double *values) {
      for (std::size_t q = 0; q < n; ++q)
        values[q] = 1. + x[q];
    };
    const Written result = written(problem, "x");
    for (const double error : result.fields.at("error").values)
      EXPECT_NEAR(error, -1., 1e-6);
  }

  TEST(FieldWriter, WhatIsNotFiniteIsNoNumber)
  {
    const std::vector<double> exact = written("1", "1/x + log(y)").fields.at("exact").values;
    bool any = false;
    for (const double value : exact)
    {
      any = any || std::isnan(value);
      EXPECT_FALSE(std::isinf(value));
    }
    EXPECT_TRUE(any);
  }
} // namespace
} // namespace tensormg
