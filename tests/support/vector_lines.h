// Plain arrays of numbers for tests of the vector kernels.
#pragma once

#include <cstdint>

#include "tests/support/random_vector.h"

namespace tensormg::test
{
/// A block that stores `size` numbers: one row of cells with one mode.
inline Block line(std::int64_t size)
{
  Block block;
  block.n = 1;
  block.cells = {size, 1, 1};
  block.pitch = size;
  return block;
}

template <typename Number>
Vector<Number> random_line(std::int64_t size, unsigned seed)
{
  return random_vector<Number>(line(size), seed);
}

/// Of the numbers as they are stored.
template <typename Number>
constexpr double unit_roundoff()
{
  return sizeof(Number) == 8 ? 0x1p-53 : sizeof(Number) == 4 ? 0x1p-24 : 0x1p-11;
}
} // namespace tensormg::test
