// Into how many shares products with few tiles, or with some beyond whole waves, are divided.
#include <gtest/gtest.h>

#include "kernels/diagnostics/gemm/divided.h"

namespace tensormg::gemm
{
namespace
{
  /// Of an H200, where two blocks fit on a multiprocessor.
  Work work_of(const Size &size, const Blocking &blocking = {128, 64, 264})
  {
    return {size, blocking, 16, 132};
  }
  int shares_of(const Size &size, const Blocking &blocking = {128, 64, 264})
  {
    return divide_few_tiles(work_of(size, blocking)).shares;
  }

  constexpr Costs large{0.606, 1.05, 1.05, 1.4}, small{0.316, 1.06, 1.35, 0.7};

  TEST(GemmDivided, FewTilesFillTheDevice)
  {
    EXPECT_EQ(shares_of({64, 64, 65536}), 264);
    EXPECT_EQ(shares_of({64, 64, 16 * 24 - 15}), 3); // eight steps each at least
    EXPECT_EQ(shares_of({129, 65, 65536}), 264);
    EXPECT_EQ(shares_of({128 * 66, 64, 65536}), 264);
    EXPECT_EQ(shares_of({128 * 66, 64, 65536}, {128, 64, 132}), 132);
    EXPECT_EQ(shares_of({64, 64, 65536}, {128, 64, 528}), 264);
  }

  TEST(GemmDivided, ManyTilesOrNothingToComputeStayWhole)
  {
    for (const Size size : {Size{4096, 4096, 4096}, {1024, 1024, 1024}, {128 * 67, 64, 65536},
             {0, 64, 65536}, {64, 0, 65536}, {64, 64, 0}, {64, 64, 15 * 16}})
    {
      const StreamK product = divide_few_tiles(work_of(size));
      EXPECT_EQ(product.shares, 0);
      EXPECT_EQ(product.divided(), 0);
      EXPECT_EQ(product.partials(), 0);
      EXPECT_EQ(product.blocks(), product.tiles.m * product.tiles.n);
    }
  }

  TEST(GemmDivided, SharesHaveWorkAndFitOnTheDevice)
  {
    for (const std::int64_t m : {1, 127, 128, 129, 1000, 5000})
      for (const std::int64_t k : {1, 255, 256, 4097, 1 << 20})
      {
        const Work work = work_of({m, 300, k});
        const StreamK few = divide_few_tiles(work), last = divide_rest(work, large);
        const auto check = [&](const StreamK &product, int least_steps) {
          if (product.shares == 0)
            return;
          EXPECT_LE(product.shares, work.blocking.blocks) << m << ' ' << k;
          EXPECT_GT(product.shares, product.divided()) << m << ' ' << k;
          EXPECT_GE(product.steps_of_divided() / product.shares, least_steps) << m << ' ' << k;
        };
        check(few, least_steps_of_share);
        check(last, least_steps_of_rest);
        EXPECT_LE(time_of(last, work, large), time_of(undivided(work), work, large));
      }
  }

  TEST(GemmDivided, TheRestIsDividedWhereItIsSmall)
  {
    // 540 tiles are four for each of 132 multiprocessors and twelve more.
    const StreamK most = divide_rest(work_of({1536, 2824, 2048}), large);
    EXPECT_EQ(most.whole, 528);
    EXPECT_EQ(most.divided(), 12);
    EXPECT_EQ(most.shares, 132);
    // 272 small tiles, three of which fit on a multiprocessor at once.
    const StreamK odd = divide_rest(work_of({1023, 1025, 511}, {64, 64, 396}), small);
    EXPECT_EQ(odd.whole, 264);
    EXPECT_EQ(odd.shares, 64);
  }

  TEST(GemmDivided, SharesAreEvenPartsOfTilesWhereThatCostsLittle)
  {
    const auto shares_of = [](const Size &size) {
      const StreamK product = divide_rest(work_of(size, {64, 64, 396}), small);
      EXPECT_EQ(product.whole, 0);
      return product.shares;
    };
    EXPECT_EQ(shares_of({300, 520, 16384}),
        264); // 45 tiles: 225 would be a block per multiprocessor less for some
    EXPECT_EQ(shares_of({256, 256, 16384}), 256); // 16 tiles
    EXPECT_EQ(shares_of({256, 256, 4096}),
        128); // what the second cache holds, one block multiplies as fast as two
    EXPECT_EQ(shares_of({512, 512, 512}), 128);
    EXPECT_EQ(divide_rest(work_of({640, 640, 8192}), large).shares, 264);
  }

  TEST(GemmDivided, RestsThatFillTheDeviceStayWhole)
  {
    for (const Size size :
        {Size{2048, 2048, 2048}, {4096, 4096, 64}, {0, 8, 8}, {8, 8, 0}, {128 * 264, 64, 4096}})
      EXPECT_EQ(divide_rest(work_of(size), large).divided(), 0);
    for (const std::int64_t n : {1000, 1024})
      EXPECT_EQ(divide_rest(work_of({n, n, n}, {64, 64, 396}), small).divided(), 0);
  }

  /// Two blocks on a multiprocessor take twice as long as one, but for what one leaves idle.
  TEST(GemmDivided, TimesOfWaves)
  {
    const auto time = [](int tiles, std::int64_t k) {
      const Work work = work_of({std::int64_t(64) * tiles, 64, k}, {64, 64, 396});
      return time_of(undivided(work), work, small) /
          (small.step * (static_cast<double>(k) / 16 + steps_of_section));
    };
    EXPECT_DOUBLE_EQ(time(396, 1600), 3.);
    EXPECT_DOUBLE_EQ(time(133, 1600), 2.);
    EXPECT_DOUBLE_EQ(time(132, 16000), 1.35);
    EXPECT_DOUBLE_EQ(time(132, 160), 1.06); // from the second cache
    EXPECT_DOUBLE_EQ(time(397, 16000), 4.35);
    EXPECT_DOUBLE_EQ(time(0, 1600), 0.);
  }
} // namespace
} // namespace tensormg::gemm
