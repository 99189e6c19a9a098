// Batches of tensors for tests: sizes, matrices, vectors, and the dense matrix of a Kronecker product.
#pragma once

#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/core/half.h"
#include "kernels/tensor/batch.h"

namespace tensormg::test
{
/// A batch and the length of its vectors.
struct BatchCase
{
  std::string name;
  tensor::Batch batch;
  std::int64_t vector_size;
};

inline BatchCase cell_case(int dim, int degree, std::int64_t cells)
{
  const tensor::Batch batch = tensor::make_cell_batch(dim, degree, cells);
  std::ostringstream name;
  name << dim << "D, degree " << degree << ", " << cells << " cells";
  return {name.str(), batch, batch.entries()};
}

inline BatchCase patch_case(
    int dim, int degree, const std::array<std::int64_t, 3> &cells, const std::array<int, 3> &colour)
{
  std::ostringstream name;
  name << dim << "D, degree " << degree << ", patches, cells and colours";
  for (int d = 0; d < dim; ++d)
    name << " " << cells[d] << " " << colour[d];
  return {name.str(), tensor::make_patch_batch(dim, degree, cells, colour),
      tensor::mesh_size(dim, degree, cells)};
}

/// Uniform in [-1, 1].
inline std::vector<double> random_numbers(std::size_t size, unsigned seed)
{
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1., 1.);
  std::vector<double> numbers(size);
  for (double &number : numbers)
    number = uniform(generator);
  return numbers;
}

template <typename Number>
std::vector<Number> rounded(const std::vector<double> &from)
{
  std::vector<Number> to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    if constexpr (sizeof(Number) == 2)
      to[i] = Half(static_cast<float>(from[i]));
    else
      to[i] = static_cast<Number>(from[i]);
  return to;
}

template <typename Number>
std::vector<double> as_double(const std::vector<Number> &from)
{
  std::vector<double> to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    if constexpr (sizeof(Number) == 2)
      to[i] = static_cast<float>(from[i]);
    else
      to[i] = from[i];
  return to;
}

/// Row-major n x n.
struct SquareMatrix
{
  int n;
  std::vector<double> entries;

  explicit SquareMatrix(int n_)
    : n(n_)
    , entries(static_cast<std::size_t>(n_) * n_, 0.)
  {}
  SquareMatrix(int n_, std::vector<double> entries_)
    : n(n_)
    , entries(std::move(entries_))
  {}
  double &operator()(int i, int j) { return entries[static_cast<std::size_t>(i) * n + j]; }
  double operator()(int i, int j) const { return entries[static_cast<std::size_t>(i) * n + j]; }
};

/// a x b: the index of b is the faster one.
inline SquareMatrix kronecker(const SquareMatrix &a, const SquareMatrix &b)
{
  SquareMatrix c(a.n * b.n);
  for (int i = 0; i < a.n; ++i)
    for (int j = 0; j < a.n; ++j)
      for (int k = 0; k < b.n; ++k)
        for (int l = 0; l < b.n; ++l)
          c(i * b.n + k, j * b.n + l) = a(i, j) * b(k, l);
  return c;
}

inline SquareMatrix add(SquareMatrix a, const SquareMatrix &b)
{
  for (std::size_t i = 0; i < a.entries.size(); ++i)
    a.entries[i] += b.entries[i];
  return a;
}

inline std::vector<double> multiply(const SquareMatrix &a, const std::vector<double> &x)
{
  std::vector<double> y(x.size(), 0.);
  for (int i = 0; i < a.n; ++i)
    for (int j = 0; j < a.n; ++j)
      y[i] += a(i, j) * x[j];
  return y;
}

/// f(index of the tensor by direction, positions of its entries) for all tensors.
template <typename Function>
void for_each_tensor(const tensor::Batch &batch, Function f)
{
  for (std::int64_t t = 0; t < batch.n_tensors(); ++t)
  {
    const std::array<std::int64_t, 3> which{t % batch.count[0], t / batch.count[0] % batch.count[1],
        t / batch.count[0] / batch.count[1]};
    std::vector<std::int64_t> positions;
    for (int k = 0; k < (batch.dim == 3 ? batch.n : 1); ++k)
      for (int j = 0; j < batch.n; ++j)
        for (int i = 0; i < batch.n; ++i)
          positions.push_back(batch.position(which, {i, j, k}));
    f(which, positions);
  }
}

/// Factors of a local inverse for all ends; the values lie between 1 and 3.
template <typename Factors>
Factors random_factors(const tensor::Batch &batch)
{
  Factors factors;
  for (int d = 0; d < batch.dim; ++d)
    for (int end = 0; end < tensor::n_ends; ++end)
    {
      factors[d][end] = {random_numbers(static_cast<std::size_t>(batch.n) * batch.n, 10 * d + end),
          random_numbers(batch.n, 100 + 10 * d + end)};
      for (double &value : factors[d][end].values)
        value += 2.;
    }
  return factors;
}
} // namespace tensormg::test
