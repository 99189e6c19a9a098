// Tiles of a build for GPUs with less shared memory than compute capability 9.0 has.
#define TENSORMG_SHARED_MEMORY_KIB 99 // this file alone; the least that any GPU has

#include "kernels/core/shared_memory_limit.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "kernels/laplace/lines/tile.h"
#include "kernels/laplace/tiles/strips_2d.h"

namespace tensormg::laplace
{
namespace
{
  static_assert(shared_memory_limit::of_block == 101376);
  static_assert(2 * (shared_memory_limit::of_two_blocks + 1024) <= 100 * 1024);

  template <typename Number, int degree, int inputs>
  void expect_fits()
  {
    using Tile = typename StripTileOf<Number, degree, inputs>::type;
    EXPECT_LE(Tile::shared_bytes, shared_memory_limit::of_block) << degree << ' ' << inputs;
    EXPECT_GE(Tile::warps, 1);
    if (strip_shape<Number>(degree, inputs).warps > Tile::warps)
    {
      EXPECT_GT(Tile::shared_bytes + Tile::warp_bytes, shared_memory_limit::of_block)
          << "as many warps as fit";
    }
  }

  template <typename Number, int degree = 1>
  void expect_all_fit()
  {
    expect_fits<Number, degree, 0>();
    if constexpr (!std::is_same_v<Number, WideFloat>)
    {
      expect_fits<Number, degree, 1>();
      expect_fits<Number, degree, 2>();
    }
    if constexpr (degree < 8)
      expect_all_fit<Number, degree + 1>();
  }

  TEST(SharedMemoryLimit, StripsOfEveryDegreeFit)
  {
    expect_all_fit<double>();
    expect_all_fit<float>();
    expect_all_fit<Half>();
    expect_all_fit<WideFloat>();
  }

  TEST(SharedMemoryLimit, LinesOfComputeCapability80)
  {
    constexpr int of_block = 163 * 1024 - 1024;
    for (int dim = 2; dim <= 3; ++dim)
      for (int n = 2; n <= 9; ++n)
        for (const int number_bytes : {8, 4, 2})
        {
          const LinesLayout layout =
              best_layout(n, dim, number_bytes, number_bytes == 2 ? 4 : number_bytes, of_block);
          const bool has_none = dim == 3 && n == 9 && number_bytes > 2;
          EXPECT_EQ(layout.groups == 0, has_none) << dim << ' ' << n << ' ' << number_bytes;
          if (!has_none)
          {
            EXPECT_LE(layout.scratch_at(), of_block);
          }
        }
  }
} // namespace
} // namespace tensormg::laplace
