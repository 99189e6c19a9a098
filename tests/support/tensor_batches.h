// Batches of tensors for tests: sizes, matrices, vectors, and the dense matrix of a Kronecker product.
#pragma once

#include <cstdint>
#include <random>
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
  return {std::to_string(dim) + "D, degree " + std::to_string(degree) + ", " +
          std::to_string(cells) + " cells",
      batch, batch.entries()};
}

inline BatchCase patch_case(
    int dim, int degree, const std::array<std::int64_t, 3> &cells, const std::array<int, 3> &colour)
{
  std::string name =
      std::to_string(dim) + "D, degree " + std::to_string(degree) + ", patches, cells and colours";
  for (int d = 0; d < dim; ++d)
    name += " " + std::to_string(cells[d]) + " " + std::to_string(colour[d]);
  return {name, tensor::make_patch_batch(dim, degree, cells, colour),
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
} // namespace tensormg::test
