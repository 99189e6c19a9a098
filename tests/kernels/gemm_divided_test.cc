// Into how many parts along k products with few tiles are divided.
#include <gtest/gtest.h>

#include "kernels/gemm/divided.h"

namespace tensormg::gemm
{
namespace
{
  constexpr Blocking blocking{128, 64, 264};
  constexpr int parts_of(const Size &size, const Blocking &of = blocking)
  {
    return parts_along_k(size, of, 16, 132);
  }

  // Many tiles, more than half as many as multiprocessors, nothing to compute, short k.
  static_assert(parts_of({4096, 4096, 4096}) == 1);
  static_assert(parts_of({1024, 1024, 1024}) == 1);
  static_assert(parts_of({128 * 67, 64, 65536}) == 1);
  static_assert(parts_of({0, 64, 65536}) == 1);
  static_assert(parts_of({64, 0, 65536}) == 1);
  static_assert(parts_of({64, 64, 0}) == 1);
  static_assert(parts_of({64, 64, 15 * 16}) == 1);
  // As many as fill the device, with eight steps each at least.
  static_assert(parts_of({64, 64, 65536}) == 264);
  static_assert(parts_of({64, 64, 16 * 16 - 15}) == 2);
  static_assert(parts_of({129, 65, 65536}) == 66);
  static_assert(parts_of({128 * 66, 64, 65536}) == 4);
  static_assert(parts_of({128 * 66, 64, 65536}, {128, 64, 132}) == 2);
  static_assert(parts_of({64, 64, 65536}, {128, 64, 528}) == 264);

  TEST(GemmDivided, PartsHaveWorkAndFitOnTheDevice)
  {
    for (const std::int64_t m : {1, 127, 128, 129, 1000, 5000})
      for (const std::int64_t k : {1, 255, 256, 4097, 1 << 20})
      {
        const Size size{m, 300, k};
        const int parts = parts_of(size);
        const std::int64_t tiles = divide_up(m, 128) * 5;
        EXPECT_GE(parts, 1);
        if (parts > 1)
        {
          EXPECT_LE(parts * tiles, blocking.blocks) << m << ' ' << k;
          EXPECT_GE(divide_up(k, 16) / parts, least_steps_of_part) << m << ' ' << k;
        }
      }
  }
} // namespace
} // namespace tensormg::gemm
