// A small dense problem for tests of Krylov methods: space, operator, preconditioners, no mesh.
#pragma once

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "solvers/concepts.h"
#include "solvers/quotient.h"

namespace tensormg::test
{
using DenseVector = std::vector<double>;
/// Numbers of FP32 with which one computes in FP64.
using ShortDenseVector = std::vector<float>;

inline DenseVector widened(const ShortDenseVector &x) { return {x.begin(), x.end()}; }

template <typename V>
V rounded(const DenseVector &x)
{
  V result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    result[i] = static_cast<typename V::value_type>(x[i]);
  return result;
}

/// The arithmetic of operators/vectors/vector_space.h on plain vectors.
struct DenseSpace
{
  using VectorType = DenseVector;
  std::size_t size = 0;

  template <typename V = DenseVector>
  V make_vector() const
  {
    return V(size, 0);
  }
  template <typename V>
  double dot(const V &x, const V &y) const
  {
    double sum = 0.;
    for (std::size_t i = 0; i < size; ++i)
      sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
    return sum;
  }
  double norm(const DenseVector &x) const { return std::sqrt(dot(x, x)); }
  template <typename V>
  std::vector<double> multi_dot(const std::vector<V> &v, int count, const V &w) const
  {
    std::vector<double> result;
    for (int i = 0; i < count; ++i)
      result.push_back(dot(v[i], w));
    result.push_back(dot(w, w));
    return result;
  }
  template <typename V>
  double multi_update_later(
      const std::vector<double> &c, const std::vector<V> &v, V &w, double factor = 1.) const
  {
    DenseVector sum(w.begin(), w.end());
    for (double &value : sum)
      value *= factor;
    add_combination(c, v, sum);
    w = rounded<V>(sum);
    return dot(w, w);
  }
  static double known(double sum) { return sum; }
  static double wait_for(double sum) { return sum; }
  template <typename V>
  void add_combination(const std::vector<double> &c, const std::vector<V> &v, DenseVector &x) const
  {
    for (std::size_t k = 0; k < c.size(); ++k)
      for (std::size_t i = 0; i < size; ++i)
        x[i] += c[k] * static_cast<double>(v[k][i]);
  }
  double convert_with_norm(double factor, const DenseVector &src, ShortDenseVector &dst) const
  {
    DenseVector scaled = src;
    for (double &value : scaled)
      value *= factor;
    dst = rounded<ShortDenseVector>(scaled);
    return norm(scaled);
  }
  template <typename V>
  double dot_later(const V &x, const V &y) const
  {
    return dot(x, y);
  }
  template <typename V>
  std::vector<double> multi_dot_later(const std::vector<V> &v, int count, const V &w) const
  {
    return multi_dot(v, count, w);
  }
  static Quotient quotient(double factor, double numerator, double denominator)
  {
    return {factor, numerator, denominator};
  }
  template <typename V>
  void axpby(double a, const V &x, const Quotient &b, V &y) const
  {
    axpby(a, x, b.value(), y);
  }
  template <typename V>
  double cg_update(
      const Quotient &step, double unit, const V &p, const V &q, DenseVector &x, V &r) const
  {
    if (!step.is_positive())
      return dot(r, r);
    const double a = step.value();
    for (std::size_t i = 0; i < size; ++i)
      x[i] += a * unit * static_cast<double>(p[i]);
    axpby(-a, q, 1., r);
    return dot(r, r);
  }
  template <typename V>
  void axpby(double a, const V &x, double b, V &y) const
  {
    for (std::size_t i = 0; i < size; ++i)
      y[i] = static_cast<typename V::value_type>(
          a * static_cast<double>(x[i]) + (b == 0. ? 0. : b * static_cast<double>(y[i])));
  }
};

/// Row-major square matrix; counts its applications.
struct DenseOperator
{
  std::size_t size = 0;
  std::vector<double> entries;
  int applications = 0;

  explicit DenseOperator(std::size_t n)
    : size(n)
    , entries(n * n, 0.)
  {}
  double &operator()(std::size_t i, std::size_t j) { return entries[i * size + j]; }
  double operator()(std::size_t i, std::size_t j) const { return entries[i * size + j]; }

  void multiply(DenseVector &y, const DenseVector &x) const
  {
    for (std::size_t i = 0; i < size; ++i)
    {
      y[i] = 0.;
      for (std::size_t j = 0; j < size; ++j)
        y[i] += entries[i * size + j] * x[j];
    }
  }
  void vmult(DenseVector &y, const DenseVector &x)
  {
    ++applications;
    multiply(y, x);
  }
  void vmult(ShortDenseVector &y, const ShortDenseVector &x)
  {
    DenseVector product(size);
    vmult(product, widened(x));
    y = rounded<ShortDenseVector>(product);
  }
  void residual(DenseVector &r, const DenseVector &x, const DenseVector &b)
  {
    multiply(r, x);
    for (std::size_t i = 0; i < size; ++i)
      r[i] = b[i] - r[i];
  }
};

/// z = f(r), f may count its calls and keep a state.
struct FunctionPreconditioner
{
  std::function<void(DenseVector &z, const DenseVector &r)> f;
  void apply(DenseVector &z, const DenseVector &r, double) { f(z, r); }
  void apply(ShortDenseVector &z, const ShortDenseVector &r, double)
  {
    DenseVector result(r.size());
    f(result, widened(r));
    z = rounded<ShortDenseVector>(result);
  }
  std::string diagnose() const { return "the preconditioner says why"; }
};

inline FunctionPreconditioner identity()
{
  return {[](DenseVector &z, const DenseVector &r) { z = r; }};
}

inline FunctionPreconditioner scaled(double factor)
{
  return {[=](DenseVector &z, const DenseVector &r) {
    for (std::size_t i = 0; i < r.size(); ++i)
      z[i] = factor * r[i];
  }};
}

/// z = D^-1 r
inline FunctionPreconditioner diagonal_of(const DenseOperator &a)
{
  return {[&a](DenseVector &z, const DenseVector &r) {
    for (std::size_t i = 0; i < r.size(); ++i)
      z[i] = r[i] / a(i, i);
  }};
}

inline DenseVector random_dense(std::size_t n, unsigned seed)
{
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1., 1.);
  DenseVector v(n);
  for (double &value : v)
    value = uniform(generator);
  return v;
}

/// A diffusion matrix with jumping coefficients and `skew` times a convection part; symmetric
/// positive definite for skew = 0.
inline DenseOperator diffusion(std::size_t n, double skew)
{
  DenseOperator a(n);
  for (std::size_t i = 0; i < n; ++i)
  {
    const double left = i % 7 == 0 ? 5. : 1., right = (i + 1) % 7 == 0 ? 5. : 1.;
    a(i, i) = left + right + 0.01 * static_cast<double>(i % 5);
    if (i > 0)
      a(i, i - 1) = -left - skew;
    if (i + 1 < n)
      a(i, i + 1) = -right + skew;
  }
  return a;
}

inline double relative_residual(const DenseOperator &a, const DenseVector &x, const DenseVector &b)
{
  const DenseSpace space{b.size()};
  DenseVector r(b.size());
  DenseOperator(a).residual(r, x, b);
  return space.norm(r) / space.norm(b);
}

inline double relative_distance(const DenseVector &x, const DenseVector &y)
{
  const DenseSpace space{x.size()};
  DenseVector difference = x;
  space.axpby(-1., y, 1., difference);
  return space.norm(difference) / space.norm(y);
}
} // namespace tensormg::test
