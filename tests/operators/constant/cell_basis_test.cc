// The tables of the cell eigenbasis against quadrature and against their definition.
#include "kernels/basis/make_cell_basis.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include <deal.II/base/quadrature_lib.h>
#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  /// A rule that is exact for everything below: products of modes and derivatives.
  struct Rule
  {
    std::vector<double> points, weights;
    explicit Rule(int n)
    {
      const dealii::QGauss<1> gauss(n);
      weights = gauss.get_weights();
      for (const dealii::Point<1> &point : gauss.get_points())
        points.push_back(point[0]);
    }
  };

  double parity(int i) { return i % 2 == 0 ? 1. : -1.; }

  class CellBasisOfDegree : public testing::TestWithParam<int>
  {
  protected:
    const int degree = GetParam();
    const int n = degree + 1;
    const CellBasis basis = make_cell_basis(degree);
    const Rule rule{n + 2};
  };
  INSTANTIATE_TEST_SUITE_P(All, CellBasisOfDegree, testing::Range(1, max_degree + 1),
      [](const auto &info) { return std::to_string(info.param); });

  TEST_P(CellBasisOfDegree, IsOrthonormal)
  {
    ASSERT_EQ(basis.n, n);
    const std::vector<double> phi = mode_value_matrix(basis, rule.points);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
      {
        double mass = 0., legendre = 0.;
        for (std::size_t q = 0; q < rule.points.size(); ++q)
          mass += rule.weights[q] * phi[q * n + i] * phi[q * n + j];
        for (int m = 0; m < n; ++m)
          legendre += basis.legendre[m * n + i] * basis.legendre[m * n + j];
        EXPECT_NEAR(mass, i == j, 1e-13);
        EXPECT_NEAR(legendre, i == j, 1e-13);
      }
  }

  TEST_P(CellBasisOfDegree, DiagonalisesTheCellBlock)
  {
    const std::vector<double> d = mode_derivative_matrix(basis, rule.points);
    std::vector<double> vl(n), vr(n), dl(n), dr(n);
    evaluate_modes(basis, 0., vl);
    evaluate_modes(basis, 1., vr);
    evaluate_mode_derivatives(basis, 0., dl);
    evaluate_mode_derivatives(basis, 1., dr);
    EXPECT_EQ(basis.penalty, degree * (degree + 1.));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
      {
        double block = 0.;
        for (std::size_t q = 0; q < rule.points.size(); ++q)
          block += rule.weights[q] * d[q * n + i] * d[q * n + j];
        block += -0.5 * (vr[i] * dr[j] + dr[i] * vr[j]) + basis.penalty * vr[i] * vr[j];
        block += 0.5 * (vl[i] * dl[j] + dl[i] * vl[j]) + basis.penalty * vl[i] * vl[j];
        EXPECT_NEAR(block, i == j ? basis.lambda[i] : 0., 1e-12 * basis.lambda[n - 1]);
      }
  }

  TEST_P(CellBasisOfDegree, TracesAndEigenvalues)
  {
    std::vector<double> v(n), d(n);
    evaluate_modes(basis, 1., v);
    evaluate_mode_derivatives(basis, 1., d);
    for (int i = 0; i < n; ++i)
    {
      EXPECT_NEAR(basis.v[i], v[i], 1e-12);
      EXPECT_NEAR(basis.h[i], 0.5 * d[i], 1e-11);
      EXPECT_NEAR(basis.g[i], 0.5 * d[i] - basis.penalty * v[i], 1e-10);
      EXPECT_GE(basis.v[i], 0.);
      EXPECT_GT(basis.lambda[i], 0.);
      EXPECT_GT(basis.lambda[i], i >= 2 ? basis.lambda[i - 2] : 0.) << "order within one parity";
    }
    // The kernels read past n in loops of fixed length: the rest of the tables is zero.
    for (int i = n; i < max_n; ++i)
      EXPECT_TRUE(
          basis.v[i] == 0. && basis.h[i] == 0. && basis.g[i] == 0. && basis.lambda[i] == 0.);
  }

  TEST_P(CellBasisOfDegree, ModesAreEvenAndOddInTurn)
  {
    std::vector<double> left(n), right(n), d_left(n), d_right(n);
    for (const double x : {0., 0.11, 0.3, 0.5})
    {
      evaluate_modes(basis, x, left);
      evaluate_modes(basis, 1. - x, right);
      evaluate_mode_derivatives(basis, x, d_left);
      evaluate_mode_derivatives(basis, 1. - x, d_right);
      for (int i = 0; i < n; ++i)
      {
        EXPECT_NEAR(left[i], parity(i) * right[i], 1e-12);
        EXPECT_NEAR(d_left[i], -parity(i) * d_right[i], 1e-10);
      }
    }
  }

  TEST_P(CellBasisOfDegree, DerivativesIntegrateToValues)
  {
    std::vector<double> start(n), end(n), d(n);
    evaluate_modes(basis, 0.2, start);
    evaluate_modes(basis, 0.9, end);
    std::vector<double> integral(n, 0.);
    for (std::size_t q = 0; q < rule.points.size(); ++q)
    {
      evaluate_mode_derivatives(basis, 0.2 + 0.7 * rule.points[q], d);
      for (int i = 0; i < n; ++i)
        integral[i] += 0.7 * rule.weights[q] * d[i];
    }
    for (int i = 0; i < n; ++i)
      EXPECT_NEAR(integral[i], end[i] - start[i], 1e-12);
  }

  TEST_P(CellBasisOfDegree, ProlongationIsExactOnBothChildren)
  {
    std::vector<double> parent(n), child(n);
    for (const double s : {0., 0.17, 0.5, 0.81, 1.})
    {
      evaluate_modes(basis, s, child);
      for (int which = 0; which < 2; ++which)
      {
        evaluate_modes(basis, 0.5 * (s + which), parent);
        for (int i = 0; i < n; ++i)
        {
          double sum = 0.;
          for (int a = 0; a < n; ++a)
            sum += (which == 0 ? 1. : parity(a + i)) * basis.prolongation[a * n + i] * child[a];
          EXPECT_NEAR(sum, parent[i], 1e-12) << "mode " << i << ", child " << which << ", s " << s;
        }
      }
    }
  }

  TEST(CellBasis, RejectsOtherDegrees)
  {
    for (const int degree : {-1, 0, max_degree + 1, 100})
      EXPECT_THROW(make_cell_basis(degree), std::invalid_argument) << degree;
  }
} // namespace
} // namespace tensormg
