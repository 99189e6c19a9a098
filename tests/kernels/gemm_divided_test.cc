// Into how many parts along k products with few tiles, or with some beyond whole waves, are divided.
#include <gtest/gtest.h>

#include "kernels/gemm/divided.h"

namespace tensormg::gemm
{
namespace
{
  /// Of an H200, where two blocks fit on a multiprocessor.
  Work work_of(const Size &size, const Blocking &blocking = {128, 64, 264})
  {
    return {size, blocking, 16, 132};
  }
  int parts_of(const Size &size, const Blocking &blocking = {128, 64, 264})
  {
    return divide_few_tiles(work_of(size, blocking)).parts;
  }

  TEST(GemmDivided, FewTilesFillTheDevice)
  {
    EXPECT_EQ(parts_of({64, 64, 65536}), 264);
    EXPECT_EQ(parts_of({64, 64, 16 * 16 - 15}), 2); // eight steps each at least
    EXPECT_EQ(parts_of({129, 65, 65536}), 66);
    EXPECT_EQ(parts_of({128 * 66, 64, 65536}), 4);
    EXPECT_EQ(parts_of({128 * 66, 64, 65536}, {128, 64, 132}), 2);
    EXPECT_EQ(parts_of({64, 64, 65536}, {128, 64, 528}), 264);
  }

  TEST(GemmDivided, ManyTilesOrNothingToComputeStayWhole)
  {
    for (const Size size : {Size{4096, 4096, 4096}, {1024, 1024, 1024}, {128 * 67, 64, 65536},
             {0, 64, 65536}, {64, 0, 65536}, {64, 64, 0}, {64, 64, 15 * 16}})
    {
      const Division division = divide_few_tiles(work_of(size));
      EXPECT_EQ(division.parts, 1);
      EXPECT_EQ(division.divided(), 0);
      EXPECT_EQ(division.sections(), division.tiles.m * division.tiles.n);
    }
  }

  TEST(GemmDivided, PartsHaveWorkAndFitOnTheDevice)
  {
    for (const std::int64_t m : {1, 127, 128, 129, 1000, 5000})
      for (const std::int64_t k : {1, 255, 256, 4097, 1 << 20})
      {
        const Work work = work_of({m, 300, k});
        const Division few = divide_few_tiles(work), last = divide_rest(work, 1.1);
        EXPECT_GE(few.parts, 1);
        if (few.parts > 1)
        {
          EXPECT_LE(few.sections(), work.blocking.blocks) << m << ' ' << k;
        }
        for (const Division &division : {few, last})
          if (division.parts > 1)
          {
            EXPECT_GE(work.steps() / division.parts, least_steps_of_part) << m << ' ' << k;
          }
        EXPECT_LE(last.sections() - last.whole, 2 * work.blocking.blocks) << m << ' ' << k;
        EXPECT_LE(time_of(last, work, 1.1), time_of(undivided(work), work, 1.1));
      }
  }

  TEST(GemmDivided, TheRestIsDividedWhereItIsSmall)
  {
    // 540 tiles are four for each of 132 multiprocessors and twelve more.
    const Division most = divide_rest(work_of({1536, 2824, 2048}), 1.1);
    EXPECT_EQ(most.whole, 528);
    EXPECT_EQ(most.divided(), 12);
    EXPECT_EQ(most.parts, 11);
    // 272 small tiles, three of which fit on a multiprocessor at once.
    const Division odd = divide_rest(work_of({1023, 1025, 511}, {64, 64, 396}), 1.5);
    EXPECT_EQ(odd.whole, 264);
    EXPECT_EQ(odd.parts, 4);
    // 45 small tiles.
    const Division few = divide_rest(work_of({300, 520, 16384}, {64, 64, 396}), 1.5);
    EXPECT_EQ(few.whole, 0);
    EXPECT_GT(few.parts, 3); // 135 parts
  }

  TEST(GemmDivided, RestsThatFillTheDeviceStayWhole)
  {
    for (const Size size :
        {Size{2048, 2048, 2048}, {4096, 4096, 64}, {0, 8, 8}, {8, 8, 0}, {128 * 264, 64, 4096}})
      EXPECT_EQ(divide_rest(work_of(size), 1.1).divided(), 0);
    for (const std::int64_t n : {1000, 1024})
      EXPECT_EQ(divide_rest(work_of({n, n, n}, {64, 64, 396}), 1.5).divided(), 0);
  }

  /// Two blocks on a multiprocessor take twice as long as one, but for what one leaves idle.
  TEST(GemmDivided, TimesOfWaves)
  {
    const auto time = [](int tiles) {
      const Work work = work_of({std::int64_t(128) * tiles, 64, 16 * 100});
      return time_of(undivided(work), work, 1.1);
    };
    EXPECT_DOUBLE_EQ(time(264), 200.);
    EXPECT_DOUBLE_EQ(time(133), 200.);
    EXPECT_DOUBLE_EQ(time(132), 110.);
    EXPECT_DOUBLE_EQ(time(265), 310.);
    EXPECT_DOUBLE_EQ(time(0), 0.);
  }
} // namespace
} // namespace tensormg::gemm
