// The results of a product into a row-major grid, two neighbours at once where they are aligned.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/mma/fragment.h"

namespace tensormg::stencil
{
/// The sums of `lane` for the points from (x, y) on go to plane[y nx + x]; points outside of nx x ny are left out.
/// Lanes hold two neighbours of a row: if rows have an even number of points, they go in one piece.
template <typename S>
__device__ void store_sums(const mma::FragmentC<S> &sums, int lane, std::int64_t nx,
    std::int64_t ny, std::int64_t x, std::int64_t y, typename S::Accumulator *plane)
{
  using Number = typename S::Accumulator;
  using Two = std::conditional_t<std::is_same_v<Number, double>, double2, float2>;
  static_assert(mma::entry_of<S, mma::Operand::c>(4 * 5 + 2, 0) == mma::Entry{5, 4} &&
      mma::entry_of<S, mma::Operand::c>(4 * 5 + 2, 1) == mma::Entry{5, 5});
  const std::int64_t column = x + lane % 4 * 2;
#pragma unroll
  for (int part = 0; part < S::m / 8; ++part)
  {
    const std::int64_t row = y + lane / 4 + 8 * part;
    if (row >= ny)
      continue;
    Number *const place = plane + row * nx + column;
    const Number left = sums.registers[2 * part], right = sums.registers[2 * part + 1];
    // By this instruction, since the compiler makes of a plain store of two the same as what stands below: a sector of
    // 32 bytes would be written in two pieces.
    if (nx % 2 == 0 && column + 1 < nx)
      __stcg(reinterpret_cast<Two *>(place), Two{left, right});
    else
    {
      if (column < nx)
        place[0] = left;
      if (column + 1 < nx)
        place[1] = right;
    }
  }
}
} // namespace tensormg::stencil
