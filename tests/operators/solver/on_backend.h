// The library on different backends: vectors to solve for, and how far results are apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tensormg/solver.h"

namespace tensormg::test
{
using Numbers = std::vector<double>;

inline Execution on(const char *backend)
{
  Execution execution;
  execution.backend = backend;
  return execution;
}

inline Numbers numbers(std::int64_t size)
{
  Numbers result(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = std::sin(0.7 * static_cast<double>(i * i % 1013));
  return result;
}

/// Of the largest entries.
inline double relative_difference(const Numbers &a, const Numbers &b)
{
  double difference = 0., largest = 0.;
  for (std::size_t i = 0; i < a.size(); ++i)
  {
    difference = std::max(difference, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(b[i]));
  }
  return difference / largest;
}
} // namespace tensormg::test
