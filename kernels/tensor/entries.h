// The entries of a tensor one by one, and numbers in memory as double: what the references are made of.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/core/half.h"
#include "kernels/tensor/batch.h"

namespace tensormg::tensor
{
template <typename Number>
double to_double(Number x)
{
  if constexpr (sizeof(Number) == 2)
    return static_cast<float>(x);
  else
    return x;
}

template <typename Number>
Number to_number(double x)
{
  if constexpr (sizeof(Number) == 2)
    return Half(static_cast<float>(x));
  else
    return static_cast<Number>(x);
}

/// f(position in the vector, number in the tensor) for all entries of a tensor.
template <typename Function>
void for_each_entry(const Batch &batch, const std::array<std::int64_t, 3> &which, Function f)
{
  int at = 0;
  for (int k = 0; k < (batch.dim == 3 ? batch.n : 1); ++k)
    for (int j = 0; j < batch.n; ++j)
      for (int i = 0; i < batch.n; ++i)
        f(batch.position(which, {i, j, k}), at++);
}

/// f(index of the tensor by direction) for all tensors.
template <typename Function>
void for_each_tensor(const Batch &batch, Function f)
{
  for (std::int64_t c = 0; c < batch.count[2]; ++c)
    for (std::int64_t b = 0; b < batch.count[1]; ++b)
      for (std::int64_t a = 0; a < batch.count[0]; ++a)
        f(std::array<std::int64_t, 3>{a, b, c});
}

/// The numbers of a tensor.
template <typename Number>
std::vector<double> read_tensor(
    const Batch &batch, const std::array<std::int64_t, 3> &which, const Number *from)
{
  std::vector<double> tensor(static_cast<std::size_t>(batch.size()));
  for_each_entry(
      batch, which, [&](std::int64_t position, int at) { tensor[at] = to_double(from[position]); });
  return tensor;
}

/// Writes or adds them.
template <typename Number>
void write_tensor(const Batch &batch, const std::array<std::int64_t, 3> &which,
    const std::vector<double> &tensor, bool add, Number *to)
{
  for_each_entry(batch, which, [&](std::int64_t position, int at) {
    const double before = add ? to_double(to[position]) : 0.;
    to[position] = to_number<Number>(tensor[at] + before);
  });
}
} // namespace tensormg::tensor
