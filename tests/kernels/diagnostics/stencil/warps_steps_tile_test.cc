// What cuda_warps_steps computes twice, and how it cuts a march: without a device.
#include "kernels/diagnostics/stencil/warps/steps_tile.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  using namespace stencil;

  TEST(StencilWarpsStepsTile, RimsAreWhatTheStepsUseUp)
  {
    for (const int dim : {2, 3})
      for (const bool box : {false, true})
        for (const int depth : {2, 3, 4, 5, 6})
          for (const int width : {1, 2, 4})
          {
            if (dim == 3 && depth > 2)
              continue;
            const StepsTile tile = steps_tile(dim, box, depth, width);
            EXPECT_GE(tile.rim_x(), depth);
            EXPECT_LT(tile.rim_x(), depth + width);
            EXPECT_EQ(tile.columns() + 2 * tile.rim_x(), 32 * width);
            EXPECT_EQ(tile.columns() % width, 0); // so that strips begin aligned
            EXPECT_EQ(tile.lines_after(depth), tile.lines);
            EXPECT_EQ(tile.lines_before(1), 0);
            for (int step = 1; step <= depth; ++step)
            {
              EXPECT_EQ(tile.lines_after(step - 1), tile.lines_after(step) + (dim == 3 ? 2 : 0));
              EXPECT_EQ(
                  tile.lines_before(step + 1), tile.lines_before(step) + tile.lines_after(step));
            }
          }
  }

  TEST(StencilWarpsStepsTile, PartsOfAMarch)
  {
    for (const int dim : {2, 3})
      for (const int depth : {2, 3, 4, 5, 6})
        for (const std::int64_t n : {1, 2, 7, 8, 31, 320, 1000, 5632, 1000000, 200000000})
          for (const std::int64_t tiles : {1, 11, 100, 5000})
            for (const std::int64_t resident : {1, 132, 264, 528})
            {
              const std::int64_t parts = steps_parts(dim, depth, n, tiles, resident);
              EXPECT_GE(parts, 1);
              EXPECT_LE(parts, n);
              EXPECT_LE(parts, 65535);
            }
    // 6 x 10 blocks: two parts at once. More blocks than one wave: parts that are short enough.
    EXPECT_EQ(steps_parts(3, 2, 320, 60, 132), 2);
    EXPECT_GE(steps_parts(3, 2, 1024, 576, 132), 16);
    EXPECT_LE(steps_parts(3, 2, 1024, 576, 132), 32);
  }
} // namespace
} // namespace tensormg
