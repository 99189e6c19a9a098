// Divisions of products into sections: every step of every tile once, and what the plans for a device of 132 multiprocessors
// are.
#include "kernels/diagnostics/gemm/wgmma/plan.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  using namespace gemm;
  using namespace gemm::wgmma;

  /// Of an H200, where clusters of two find room everywhere.
  Residents h200()
  {
    Residents result{};
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] =
          shapes[i].cluster == 5 ? 22 : 132 * shapes[i].per_multiprocessor / shapes[i].cluster;
    return result;
  }

  Plan corrected_plan(const Size &size)
  {
    return corrected_plan_of(size, {66, 132, 132, 132}, {132, 132});
  }

  void expect_each_step_once(const Division &division)
  {
    const Tiles &tiles = division.tiles;
    std::vector<int> seen(static_cast<std::size_t>(tiles.m * tiles.n * division.steps));
    std::vector<int> partial;
    for (int i = 0; i < division.sections(); ++i)
    {
      const Section section = section_of(division, i);
      EXPECT_LT(section.first, section.end);
      EXPECT_EQ(section.partial >= 0, i >= division.whole);
      if (section.partial >= 0)
        partial.push_back(section.partial);
      for (int step = section.first; step < section.end; ++step)
        ++seen.at(static_cast<std::size_t>(
            (section.tile.m * tiles.n + section.tile.n) * division.steps + step));
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(seen.size()));
    for (std::size_t i = 0; i < partial.size(); ++i)
      EXPECT_EQ(partial[i], static_cast<int>(i));
  }

  TEST(GemmPlan, SectionsAreEachStepOnce)
  {
    for (const Division &division : {Division{{3, 2}, 5, 6, 1}, Division{{3, 2}, 5, 4, 5},
             Division{{9, 4}, 7, 30, 3}, Division{{1, 1}, 1024, 0, 132},
             Division{{17, 3}, 1, 51, 1}, Division{{12, 12}, 32, 132, 11, true},
             Division{{10, 3}, 7, 27, 3, true}, Division{{3, 1}, 5, 1, 2, true}})
      expect_each_step_once(division);
    for (const Size size : {Size{5000, 5000, 5000}, {64, 64, 65536}, {1000, 1000, 1000}, {1, 1, 1},
             {300, 520, 16384}, {4096, 64, 320}, {1536, 2824, 2048}})
      expect_each_step_once(plan_of(size, shapes, h200()).division);
  }

  TEST(GemmPlan, SectionsOfATileFollowEachOther)
  {
    const Division division{{1, 3}, 10, 2, 4};
    EXPECT_EQ(division.sections(), 6);
    EXPECT_EQ(section_of(division, 1).partial, -1);
    const Section last = section_of(division, 5);
    EXPECT_EQ(last.tile.n, 2);
    EXPECT_EQ(last.first, 7);
    EXPECT_EQ(last.end, 10);
    EXPECT_EQ(last.partial, 3);
  }

  TEST(GemmPlan, DividesOnlyTheLastWave)
  {
    const Shape &large = shapes[0];
    const Division division = division_of({5000, 5000, 5000}, large, 66, 16);
    EXPECT_EQ(division.whole, 6 * 66);
    EXPECT_EQ(division.divided(), 4);
    EXPECT_EQ(division.parts, 16);
    EXPECT_EQ(division_of({5000, 5000, 5000}, large, 66, 1).whole, 400);
    EXPECT_EQ(division_of({64, 64, 256}, large, 66, 66).parts, 4); // no more than steps
    EXPECT_EQ(division_of({64, 64, 64}, large, 66, 66).whole, 1);
  }

  /// Eleven columns of tiles of 128 x 256 are a wave, and eight columns of numbers are left: 120 tiles of 192 x 192 are less than one.
  TEST(GemmPlan, ALittleMoreThanAWaveIsLessThanOneOfOtherTiles)
  {
    const Size size{1536, 2824, 2048};
    const Plan plan = plan_of(size, shapes, h200());
    EXPECT_EQ(plan.shape.block_rows(), 192);
    EXPECT_EQ(plan.shape.tile_n, 192);
    EXPECT_EQ(plan.division.sections(), 60);
    EXPECT_EQ(plan.division.parts, 1);
  }

  TEST(GemmPlan, WhatIsLeftOfAFullWaveIsTheLastColumn)
  {
    const Size size{1536, 2824, 2048};
    const Shape &shape = shapes[2];
    const Division division = division_of(size, shape, 132, 11);
    EXPECT_EQ(division.whole, 132);
    EXPECT_EQ(division.divided(), 12);
    EXPECT_EQ(division.parts, 11);
    for (int i = 0; i < division.sections(); ++i)
      EXPECT_EQ(section_of(division, i).tile.n == 11, i >= division.whole) << i;
    EXPECT_EQ(written_sums(division, shape, size), 11. * 1536. * 8.);
    // Undivided it would be two waves.
    EXPECT_LT(time_of(division, shape, size, 132),
        0.8 * time_of(division_of(size, shape, 132, 1), shape, size, 132));
  }

  TEST(GemmPlan, TheLastColumnIsLastOnlyWhereItIsDividedAndNotFull)
  {
    const Shape &shape = shapes[2];
    EXPECT_TRUE(division_of({1536, 2824, 2048}, shape, 132, 11).edge_last);
    EXPECT_FALSE(division_of({1536, 2824, 2048}, shape, 132, 1).edge_last);
    EXPECT_FALSE(division_of({1536, 2816 + 256, 2048}, shape, 132, 11).edge_last);
    // 24 tiles are left of a wave, more than a column has.
    EXPECT_FALSE(division_of({1536, 3080, 2048}, shape, 132, 11).edge_last);
    // Narrow tiles write all of their sums.
    const Division narrow = division_of({1536, 2824, 2048}, shapes[3], 132, 11);
    EXPECT_TRUE(narrow.edge_last);
    EXPECT_EQ(written_sums(narrow, shapes[3], {1536, 2824, 2048}), 11. * 12. * 128. * 128.);
    // Without a column that comes last the order is that of bands.
    for (int tile = 0; tile < 30; ++tile)
    {
      const Position position = position_of({{10, 3}, 1, 30, 1}, tile),
                     expected = tile_position(tile, 10, 3);
      EXPECT_EQ(position.m, expected.m);
      EXPECT_EQ(position.n, expected.n);
    }
  }

  TEST(GemmPlan, StepsTakeLongerWhereRowsDoNotBeginWithLines)
  {
    const Shape &narrow = shapes[4], &large = shapes[0];
    const auto time = [](const Shape &shape, const Size &size) {
      return step_time(shape, size, row_time);
    };
    EXPECT_GT(time(narrow, {1000, 1000, 1000}), time(narrow, {1024, 1024, 1024}));
    // These are copied.
    EXPECT_EQ(time(narrow, {1000, 1001, 1001}), time(narrow, {1024, 1024, 1024}));
    EXPECT_EQ(time(large, {1024, 1024, 1024}), large.step_time);
    EXPECT_GT(step_time(narrow, {1024, 1024, 1024}, row_time_of_parts), narrow.step_time);
  }

  /// Five tiles below each other share those of B: a column is a cluster.
  TEST(GemmPlan, FewRowsAreOneClusterDividedAlongK)
  {
    for (const Size size : {Size{300, 520, 16384}, {320, 320, 32768}})
    {
      const Plan plan = plan_of(size, shapes, h200());
      EXPECT_EQ(plan.shape.cluster, 5);
      EXPECT_EQ(plan.division.whole, 0);
      EXPECT_EQ(plan.division.tiles.m, 1);
      EXPECT_GE(plan.division.sections(), 18);
    }
  }

  TEST(GemmPlan, LargeProductsHaveTheLargestTiles)
  {
    for (const Size size : {Size{4096, 4096, 4096}, {4608, 5632, 5000}})
    {
      const Plan plan = plan_of(size, shapes, h200());
      EXPECT_EQ(plan.index, 0);
      EXPECT_EQ(plan.division.parts, 1);
      EXPECT_EQ(plan.partial_numbers(), 0);
    }
    // 400 tiles of 256 x 256 are six waves and four tiles, which are divided.
    const Plan plan = plan_of({5000, 5000, 5000}, shapes, h200());
    EXPECT_EQ(plan.index, 0);
    EXPECT_EQ(plan.division.whole, 396);
    EXPECT_GT(plan.division.parts, 1);
    // As many waves as of 340 tiles of 256 x 256, of fewer columns.
    const Plan narrow = plan_of({8704, 2464, 4096}, shapes, h200());
    EXPECT_EQ(narrow.shape.tile_n, 224);
    EXPECT_EQ(narrow.division.sections(), 374);
  }

  /// As clusters of five on a part of a device.
  TEST(GemmPlan, ShapesWithoutRoomAreNotTaken)
  {
    for (const Size size : {Size{300, 520, 16384}, {1536, 2824, 2048}, {64, 64, 65536}})
      for (std::size_t i = 1; i < shapes.size(); ++i)
      {
        Residents residents = h200();
        residents[i] = 0;
        EXPECT_NE(plan_of(size, shapes, residents).index, static_cast<int>(i));
      }
  }

  TEST(GemmPlan, FewTilesAreDividedAlongK)
  {
    const Plan plan = plan_of({64, 64, 65536}, shapes, h200());
    const Shape &shape = plan.shape;
    EXPECT_EQ(plan.division.whole, 0);
    EXPECT_GE(plan.division.parts, 32);
    EXPECT_EQ(
        plan.partial_numbers(), std::int64_t(plan.division.parts) * shape.rows() * shape.tile_n);
    EXPECT_LE(shape.tile_n, 128);
  }

  /// Their factors take longer to split before the product than the product.
  TEST(GemmPlan, FewTilesWithLongKAreSplitByTheirBlocks)
  {
    for (const Size size : {Size{64, 64, 65536}, {256, 256, 16384}, {128, 128, 32768}})
    {
      const Plan plan = corrected_plan(size);
      EXPECT_TRUE(plan.shape.splits);
      EXPECT_EQ(plan.division.whole, 0);
      EXPECT_GE(plan.division.sections(), 66);
      EXPECT_LE(plan.division.sections(), 132);
      EXPECT_EQ(factor_numbers<float>(size, plan.shape), 0);
      expect_each_step_once(plan.division);
    }
    EXPECT_EQ(corrected_plan({64, 64, 65536}).shape.tile_n, 64);
    EXPECT_EQ(corrected_plan({256, 256, 16384}).shape.tile_n, 128);
  }

  TEST(GemmPlan, LargeProductsAreSplitBefore)
  {
    for (const Size size : {Size{4096, 4096, 4096}, {2048, 2048, 2048}, {1000, 1000, 1000}})
    {
      const Plan plan = corrected_plan(size);
      EXPECT_FALSE(plan.shape.splits);
      EXPECT_EQ(factor_numbers<float>(size, plan.shape),
          size.m * aligned_columns(size.k) + size.k * aligned_columns(size.n));
    }
  }

  /// The engine cannot read them where they are.
  TEST(GemmPlan, RowsThatStartAnywhereAreSplitBefore)
  {
    for (const Size size : {Size{64, 64, 65535}, {64, 63, 65536}, {256, 258, 16384}})
      EXPECT_FALSE(corrected_plan(size).shape.splits);
    EXPECT_TRUE(corrected_plan({63, 60, 65532}).shape.splits);
  }

  TEST(GemmPlan, SplittingBeforeTheProductTakesTime)
  {
    const Size size{256, 256, 16384};
    EXPECT_EQ(splitting_time(shapes[0], size), 0.);
    EXPECT_EQ(splitting_time(split_shapes[0], size), 0.);
    EXPECT_NEAR(splitting_time(corrected_shapes[0], size), 23., 0.1);
    // Two terms in FP16 are as many bytes as a number in FP32, of which a step has half as many.
    EXPECT_EQ(step_time(split_shapes[0], size, 1.), step_time(corrected_shapes[1], size, 1.) / 2.);
    // Nothing is copied to rows that begin with lines.
    EXPECT_EQ(step_time(split_shapes[0], {256, 256, 16388}, 1.),
        1.5 * step_time(split_shapes[0], size, 1.)); // rows of A in two lines
    EXPECT_EQ(step_time(split_shapes[0], {256, 260, 16384}, 1.),
        1.125 * step_time(split_shapes[0], size, 1.)); // of B in five instead of four
  }

  TEST(GemmPlan, ATableWithoutRoomIsNotTaken)
  {
    const Size size{64, 64, 65536};
    EXPECT_FALSE(corrected_plan_of(size, {66, 132, 132, 132}, {0, 0}).shape.splits);
    EXPECT_EQ(corrected_plan_of(size, {66, 132, 132, 132}, {132, 0}).index, 0);
  }

  TEST(GemmPlan, CopiesOfRowsThatTheEngineDoesNotTake)
  {
    EXPECT_EQ(aligned_numbers({4096, 1000, 72}), 0);
    EXPECT_EQ(aligned_numbers({5, 8, 65}), 5 * 128);
    EXPECT_EQ(aligned_numbers({5, 63, 8}), 8 * 64);
    EXPECT_EQ(aligned_numbers({5, 63, 65}), 5 * 128 + 65 * 64);
  }

  TEST(GemmPlan, NothingToDo)
  {
    for (const Size size : {Size{0, 8, 8}, {8, 0, 8}, {8, 8, 0}})
    {
      EXPECT_EQ(plan_of(size, shapes, h200()).partial_numbers(), 0);
      EXPECT_EQ(corrected_plan(size).partial_numbers(), 0);
    }
    EXPECT_THROW(plan_of({std::int64_t(1) << 31, 1, 1}, shapes, h200()), std::length_error);
  }
} // namespace
} // namespace tensormg
