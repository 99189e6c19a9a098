// Tiles and waves against examples by hand, and the times that they predict.
#include "kernels/diagnostics/gemm/quantisation.h"

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  using namespace gemm;

  constexpr Blocking large{128, 256, 132}, small{128, 128, 132};

  TEST(GemmQuantisation, TilesAndWaves)
  {
    const Waves w = waves_of({4096, 4096, 4096}, large);
    EXPECT_EQ(w.tiles, 512);
    EXPECT_EQ(w.waves, 4);
    EXPECT_EQ(w.tile_use, 1.);
    EXPECT_DOUBLE_EQ(w.wave_use, 512. / 528.); // 3.88 of 4
    EXPECT_EQ(waves_of({8192, 8192, 1}, large).waves, 16);
    EXPECT_EQ(waves_of({4096, 4096, 1}, small).waves, 8); // 7.76
  }

  TEST(GemmQuantisation, OneMoreThanAMultiple)
  {
    const Blocking blocking{128, 256, 4};
    EXPECT_EQ(waves_of({256, 512, 9}, blocking).waves, 1);
    EXPECT_EQ(waves_of({256, 512, 9}, blocking).use(), 1.);
    const Waves row = waves_of({257, 512, 9}, blocking), column = waves_of({256, 513, 9}, blocking);
    EXPECT_EQ(row.tiles, 6);
    EXPECT_EQ(column.tiles, 6);
    EXPECT_EQ(row.waves, 2);
    EXPECT_DOUBLE_EQ(row.tile_use, 257. / 384.);
    EXPECT_DOUBLE_EQ(row.wave_use, 0.75);
    EXPECT_DOUBLE_EQ(column.use(), 513. / 1024.);
    EXPECT_EQ(waves_of({1, 1, 1}, blocking).tiles, 1);
    EXPECT_DOUBLE_EQ(waves_of({1, 1, 1}, blocking).use(), 1. / (4. * 128. * 256.));
  }

  TEST(GemmQuantisation, NothingToCompute)
  {
    EXPECT_EQ(waves_of({0, 5, 5}, large).waves, 0);
    EXPECT_EQ(waves_of({5, 0, 5}, large).use(), 0.);
  }

  TEST(GemmQuantisation, TimeOfWaves)
  {
    const WaveTime time = wave_time(1, 12., 3, 32.);
    EXPECT_DOUBLE_EQ(time.start, 2.);
    EXPECT_DOUBLE_EQ(time.wave, 10.);
    EXPECT_DOUBLE_EQ(time.after(2), 22.);
  }

  TEST(GemmQuantisation, FullWaveIsARectangleOfAllBlocks)
  {
    for (int blocks = 1; blocks < 600; ++blocks)
    {
      const Rectangle r = full_wave(blocks);
      EXPECT_EQ(r.rows * r.columns, blocks);
      EXPECT_LE(r.rows, r.columns);
      for (int rows = r.rows + 1; rows * rows <= blocks; ++rows)
        EXPECT_NE(blocks % rows, 0);
    }
    EXPECT_EQ(full_wave(132).rows, 11);
    EXPECT_EQ(full_wave(131).rows, 1); // a prime
  }
} // namespace
} // namespace tensormg
