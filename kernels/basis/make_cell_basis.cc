#include "kernels/basis/make_cell_basis.h"

#include <cmath>
#include <stdexcept>
#include <string>

extern "C" void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda,
    double *w, double *work, const int *lwork, int *info);

namespace tensormg
{
namespace
{
  /// sqrt(2m+1) P_m(2x-1) and its derivative in x, for m < n, by the three-term recurrence.
  void legendre(int n, double x, double *values, double *derivatives)
  {
    const double t = 2. * x - 1.;
    std::vector<double> p(n + 1), dp(n + 1);
    p[0] = 1.;
    dp[0] = 0.;
    p[1] = t;
    dp[1] = 1.;
    for (int m = 1; m + 1 < n; ++m)
    {
      p[m + 1] = ((2 * m + 1) * t * p[m] - m * p[m - 1]) / (m + 1);
      dp[m + 1] = dp[m - 1] + (2 * m + 1) * p[m];
    }
    for (int m = 0; m < n; ++m)
    {
      const double norm = std::sqrt(2. * m + 1.);
      values[m] = norm * p[m];
      derivatives[m] = 2. * norm * dp[m];
    }
  }

  /// Gauss-Legendre points and weights on [0, 1]; Newton's method from Tricomi's initial guess.
  void gauss(int n, std::vector<double> &points, std::vector<double> &weights)
  {
    points.assign(n, 0.);
    weights.assign(n, 0.);
    const double pi = std::acos(-1.);
    for (int q = 0; q < n; ++q)
    {
      double t = -std::cos(pi * (q + 0.75) / (n + 0.5));
      double derivative = 1.;
      for (int step = 0; step < 50; ++step)
      {
        double p0 = 1., p1 = t;
        for (int m = 1; m < n; ++m)
        {
          const double p2 = ((2 * m + 1) * t * p1 - m * p0) / (m + 1);
          p0 = p1;
          p1 = p2;
        }
        derivative = n * (t * p1 - p0) / (t * t - 1.);
        const double change = p1 / derivative;
        t -= change;
        if (std::abs(change) < 1e-16)
          break;
      }
      points[q] = 0.5 * (t + 1.);
      weights[q] = 1. / ((1. - t * t) * derivative * derivative);
    }
  }

  /// Eigenvectors (columns of the returned array, ascending eigenvalues) of a small symmetric matrix.
  std::vector<double> eigenvectors(std::vector<double> matrix, int n, std::vector<double> &values)
  {
    values.assign(n, 0.);
    const int lwork = 8 * n + 16;
    std::vector<double> work(lwork);
    int info = 0;
    dsyev_("V", "U", &n, matrix.data(), &n, values.data(), work.data(), &lwork, &info);
    if (info != 0)
      throw std::runtime_error("dsyev failed on a cell block of size " + std::to_string(n));
    return matrix; // column-major: vector e is matrix[e * n + .]
  }

  /// The modes of one parity. v, d: traces of the orthonormal Legendre polynomials at x = 1.
  void add_modes(int parity, const std::array<double, max_n> &v, const std::array<double, max_n> &d,
      CellBasis &basis)
  {
    const int n = basis.n;
    const int size = (n + 1 - parity) / 2;
    std::vector<double> block(size * size);
    for (int a = 0; a < size; ++a)
      for (int b = 0; b < size; ++b)
      {
        const int i = 2 * a + parity, j = 2 * b + parity;
        const int m = std::min(i, j);
        const double stiffness = 2. * v[i] * v[j] * m * (m + 1.);
        // Within one parity both ends contribute the same, hence no factor 1/2 and a factor 2.
        block[a * size + b] =
            stiffness - (v[i] * d[j] + d[i] * v[j]) + 2. * basis.penalty * v[i] * v[j];
      }
    std::vector<double> values;
    const std::vector<double> vectors = eigenvectors(block, size, values);
    for (int e = 0; e < size; ++e)
    {
      // The sign of an eigenvector is arbitrary: fix it by a positive value at the right end.
      double end = 0.;
      for (int a = 0; a < size; ++a)
        end += vectors[e * size + a] * v[2 * a + parity];
      const double sign = end < 0. ? -1. : 1.;
      const int i = 2 * e + parity;
      basis.lambda[i] = values[e];
      for (int a = 0; a < size; ++a)
      {
        const int m = 2 * a + parity;
        const double q = sign * vectors[e * size + a];
        basis.legendre[m * n + i] = q;
        basis.v[i] += q * v[m];
        basis.h[i] += 0.5 * q * d[m];
      }
      basis.g[i] = basis.h[i] - basis.penalty * basis.v[i];
    }
  }
} // namespace

CellBasis make_cell_basis(int degree)
{
  if (degree < 1 || degree > max_degree)
    throw std::invalid_argument(
        "degree " + std::to_string(degree) + " is not in 1.." + std::to_string(max_degree));
  CellBasis basis;
  const int n = degree + 1;
  basis.n = n;
  basis.penalty = degree * (degree + 1.);

  // Traces of the orthonormal Legendre polynomials at x = 1; at x = 0 the parity gives the sign.
  std::array<double, max_n> v{}, d{};
  for (int m = 0; m < n; ++m)
  {
    v[m] = std::sqrt(2. * m + 1.);
    d[m] = v[m] * m * (m + 1.);
  }
  for (int parity = 0; parity < 2; ++parity)
    add_modes(parity, v, d, basis);

  std::vector<double> points, weights;
  gauss(n, points, weights);
  std::vector<double> child(n), parent(n);
  for (int q = 0; q < n; ++q)
  {
    evaluate_modes(basis, points[q], child);
    evaluate_modes(basis, 0.5 * points[q], parent);
    for (int a = 0; a < n; ++a)
      for (int i = 0; i < n; ++i)
        basis.prolongation[a * n + i] += weights[q] * child[a] * parent[i];
  }
  return basis;
}

void evaluate_modes(const CellBasis &basis, double x, std::span<double> values)
{
  const int n = basis.n;
  std::array<double, max_n> p{}, dp{};
  legendre(n, x, p.data(), dp.data());
  for (int i = 0; i < n; ++i)
  {
    values[i] = 0.;
    for (int m = 0; m < n; ++m)
      values[i] += basis.legendre[m * n + i] * p[m];
  }
}

void evaluate_mode_derivatives(const CellBasis &basis, double x, std::span<double> derivatives)
{
  const int n = basis.n;
  std::array<double, max_n> p{}, dp{};
  legendre(n, x, p.data(), dp.data());
  for (int i = 0; i < n; ++i)
  {
    derivatives[i] = 0.;
    for (int m = 0; m < n; ++m)
      derivatives[i] += basis.legendre[m * n + i] * dp[m];
  }
}

std::vector<double> mode_value_matrix(const CellBasis &basis, std::span<const double> points)
{
  std::vector<double> matrix(points.size() * basis.n);
  for (std::size_t q = 0; q < points.size(); ++q)
    evaluate_modes(basis, points[q], std::span(matrix).subspan(q * basis.n, basis.n));
  return matrix;
}

std::vector<double> mode_derivative_matrix(const CellBasis &basis, std::span<const double> points)
{
  std::vector<double> matrix(points.size() * basis.n);
  for (std::size_t q = 0; q < points.size(); ++q)
    evaluate_mode_derivatives(basis, points[q], std::span(matrix).subspan(q * basis.n, basis.n));
  return matrix;
}
} // namespace tensormg
