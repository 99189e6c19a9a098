// Batches of small matrices.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/diagnostics/smallmat/smallmat.h"

namespace tensormg::test
{
using smallmat::factor_size;
using smallmat::Task;

inline std::vector<double> batch_numbers(std::int64_t size, double phase)
{
  std::vector<double> list;
  for (std::int64_t i = 0; i < size; ++i)
    list.push_back(std::sin(1.7 * static_cast<double>(i) + phase) + 0.01);
  return list;
}

/// Unit vectors for householder, cosines and sines for givens: the numbers of a matrix have norm 1.
inline std::vector<double> batch_factors(Task task, int n, std::int64_t count)
{
  const std::int64_t size = factor_size(task, n);
  std::vector<double> list = batch_numbers(size * count, 0.4);
  for (std::int64_t i = 0; task != Task::product && i < count; ++i)
  {
    double norm = 0.;
    for (std::int64_t e = i * size; e < (i + 1) * size; ++e)
      norm += list[static_cast<std::size_t>(e)] * list[static_cast<std::size_t>(e)];
    for (std::int64_t e = i * size; e < (i + 1) * size; ++e)
      list[static_cast<std::size_t>(e)] /= std::sqrt(norm);
  }
  return list;
}
} // namespace tensormg::test
