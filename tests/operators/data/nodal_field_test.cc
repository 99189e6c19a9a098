// Functions from arrays: polynomials are reproduced everywhere, faces have a rule, and outside there is nothing.
#include "operators/data/nodal_field.h"

#include <cmath>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include "operators/data/functions.h"
#include "operators/output/nodal_file.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using Polynomial = std::function<double(double, double, double)>;

  class NodalFields : public testing::Test
  {
  protected:
    /// The function f at the nodes of this layout; plus the number of the cell in x times `jump`.
    std::shared_ptr<const NodalField> field(
        const NodalLayout &layout, const Polynomial &f, double jump = 0.) const
    {
      std::ofstream out(directory_ / "a.npy", std::ios::binary);
      out << npy_head(layout.shape());
      const auto at = [&](int d, std::int64_t cell, std::size_t node) {
        return layout.axis(d).coordinate(cell, layout.nodes[node]);
      };
      const std::size_t n = layout.nodes.size(), nz = layout.dim == 3 ? n : 1;
      for (std::int64_t cz = 0; cz < layout.cells[2]; ++cz)
        for (std::int64_t cy = 0; cy < layout.cells[1]; ++cy)
          for (std::int64_t cx = 0; cx < layout.cells[0]; ++cx)
            for (std::size_t k = 0; k < nz; ++k)
              for (std::size_t j = 0; j < n; ++j)
                for (std::size_t i = 0; i < n; ++i)
                {
                  const double z = layout.dim == 3 ? at(2, cz, k) : 0.;
                  const double value =
                      f(at(0, cx, i), at(1, cy, j), z) + jump * static_cast<double>(cx);
                  out.write(reinterpret_cast<const char *>(&value), sizeof(value));
                }
      out.close();
      return std::make_shared<const NodalField>(
          std::make_shared<const NpyArray>((directory_ / "a.npy").string()), layout);
    }

    const test::TemporaryDirectory directory_;
  };

  NodalLayout layout_of(int dim, int degree, bool is_graded = false)
  {
    NodalLayout layout;
    layout.dim = dim;
    layout.lower = {-1., 0.5, 2.};
    layout.upper = {1., 1.5, 5.};
    layout.cells = {3, 5, dim == 3 ? 7 : 1};
    layout.nodes = nodes_of_file(degree);
    if (is_graded)
      layout.corners[0] = {-1., -0.85, 0.2, 1.};
    return layout;
  }

  TEST_F(NodalFields, PolynomialsAreReproduced)
  {
    for (const int dim : {2, 3})
      for (const auto &[degree, is_graded] :
          {std::pair{1, false}, {2, false}, {5, false}, {8, false}, {1, true}, {3, true}})
      {
        const Polynomial f = [dim = dim, degree = degree](double x, double y, double z) {
          return std::pow(x, degree) * y + 2. * std::pow(y, degree) - (dim == 3 ? x * z : 0.);
        };
        const ScalarFunction function(
            "f", field_function(field(layout_of(dim, degree, is_graded), f), "f"));
        const std::vector<double> x{-1., -0.9, -1. / 3., 0.1, 1.}, y{0.5, 0.7, 1.23, 1.5},
            z = dim == 3 ? std::vector<double>{2., 2.5, 4.99, 5.} : std::vector<double>{0.};
        std::vector<double> values(x.size() * y.size() * z.size());
        function.tensor_values(x, y, z, values.data());
        std::size_t q = 0;
        for (const double at_z : z)
          for (const double at_y : y)
            for (const double at_x : x)
              EXPECT_NEAR(values[q++], f(at_x, at_y, at_z), 2e-12 * std::pow(1.5, degree))
                  << dim << ' ' << degree;
      }
  }

  TEST_F(NodalFields, FacesTakeTheUpperCell)
  {
    const Polynomial zero = [](double, double, double) { return 0.; };
    const auto function = field(layout_of(2, 2), zero, 1.);
    const auto value = [&](double x) {
      const double y = 1., z = 0.;
      double result = 0.;
      function->values("f", 1, &x, &y, &z, &result);
      return result;
    };
    EXPECT_NEAR(value(-1.), 0., 1e-14);
    EXPECT_NEAR(value(-1. / 3. - 1e-6), 0., 1e-14);
    for (const double rounding : {-1e-15, 0., 1e-15})
      EXPECT_NEAR(value(-1. / 3. + rounding), 1., 1e-14);
    EXPECT_NEAR(value(1.), 2., 1e-14);
    EXPECT_NEAR(value(1. + 1e-15), 2., 1e-14);
    for (const double outside : {-1.01, 1.01, std::numeric_limits<double>::quiet_NaN()})
      try
      {
        value(outside);
        ADD_FAILURE();
      }
      catch (const ExpressionError &error)
      {
        EXPECT_EQ(error.expression(), "f");
        EXPECT_NE(error.reason().find("has no value where x = "), std::string::npos);
        EXPECT_NE(error.reason().find("a.npy has the box (-1, 1) x (0.5, 1.5)"), std::string::npos)
            << error.reason();
      }
  }

  TEST_F(NodalFields, BoxesFarFromTheOrigin)
  {
    NodalLayout layout = layout_of(2, 1);
    layout.lower = {5400000.1, 0., 0.};
    layout.upper = {5400000.4, 1., 1.};
    const auto function = field(layout, [](double, double, double) { return 1.; });
    const double x = layout.lower[0] + 3 * ((layout.upper[0] - layout.lower[0]) / 3), y = 0.,
                 z = 0.;
    double result = 0.;
    EXPECT_NO_THROW(function->values("f", 1, &x, &y, &z, &result));
    EXPECT_NEAR(result, 1., 1e-14);
  }

  TEST_F(NodalFields, OneNumberForEachCell)
  {
    NodalLayout layout = layout_of(3, 1);
    layout.nodes = {0.5};
    test::write(directory_ / "a.npy", npy_head({7, 5, 3}) + std::string(8UL * 7 * 5 * 3, '\0'));
    const auto array = std::make_shared<const NpyArray>((directory_ / "a.npy").string());
    EXPECT_NO_THROW(NodalField(array, layout));
    layout.nodes = {0., 1.};
    try
    {
      const NodalField field(array, layout);
      ADD_FAILURE();
    }
    catch (const DataFileError &error)
    {
      EXPECT_NE(std::string(error.what())
                    .find("a.npy: has the shape (7, 5, 3); allowed: (7, 5, 3, 2, 2, 2)"),
          std::string::npos)
          << error.what();
    }
  }
} // namespace
} // namespace tensormg
