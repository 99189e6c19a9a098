// Every layer of every tile is worked on exactly once, and the work is spread evenly.
#include "kernels/laplace/march/schedule.h"

#include <vector>

#include <gtest/gtest.h>

namespace tensormg::laplace
{
namespace
{
  TEST(MarchSchedule, CoversEveryLayerOnce)
  {
    for (const int blocks : {1, 2, 7, 132})
      for (const int tiles : {1, 2, 3, 8, 50, 131, 132, 133, 200, 264, 265, 1000})
        for (const int layers : {1, 2, 3, 8, 31, 240})
        {
          SCOPED_TRACE(testing::Message()
              << tiles << " tiles, " << layers << " layers, " << blocks << " blocks");
          const int first = tiles % 2 == 0 ? 0 : 5;
          const MarchSchedule schedule(tiles, layers, blocks, first);
          std::vector<int> visits(static_cast<std::size_t>(tiles) * layers, 0);
          int longest = 0;
          for (int block = 0; block < blocks; ++block)
          {
            Segment s;
            for (int index = 0; schedule.segment(block, index, s); ++index)
            {
              ASSERT_GE(s.tile, 0);
              ASSERT_LT(s.tile, tiles);
              ASSERT_LT(s.z0, s.z1);
              ASSERT_GE(s.z0, first);
              for (int z = s.z0 - first; z < s.z1 - first; ++z)
                ++visits.at(static_cast<std::size_t>(s.tile) * layers + z);
            }
            longest = std::max(longest, schedule.layers_of(block));
          }
          for (const int count : visits)
            ASSERT_EQ(count, 1);
          EXPECT_EQ(longest, schedule.longest());
        }
  }

  TEST(MarchSchedule, KeepsBlocksBusy)
  {
    // With many layers the longest block has little more than its share.
    for (const int tiles : {1, 8, 50, 100, 133, 200, 300})
    {
      const MarchSchedule schedule(tiles, 1000, 132);
      EXPECT_LT(schedule.longest(), 1.12 * tiles * 1000 / 132) << tiles;
    }
  }

  TEST(WholeColumns, AreNotCut)
  {
    for (const int most : {1, 2, 66, 114, 132})
      for (int tiles = 1; tiles <= 2000; ++tiles)
      {
        const int blocks = blocks_for_whole_columns(tiles, most);
        ASSERT_GE(blocks, 1);
        ASSERT_LE(blocks, most);
        if (blocks == most)
          continue;
        SCOPED_TRACE(testing::Message() << tiles << " tiles, " << blocks << " of " << most);
        const MarchSchedule whole(tiles, 128, blocks), cut(tiles, 128, most);
        Segment s;
        for (int block = 0; block < blocks; ++block)
          for (int index = 0; whole.segment(block, index, s); ++index)
            ASSERT_EQ(s.z1 - s.z0, 128);
        ASSERT_EQ(whole.layers_of(0), whole.layers_of(blocks - 1));
        ASSERT_LE(whole.longest(), 1.04 * cut.longest());
      }
  }

  TEST(WholeColumns, AreTakenWhereTheyCostLittle)
  {
    EXPECT_EQ(blocks_for_whole_columns(512, 66), 64); // eight rounds instead of 7.8
    EXPECT_EQ(blocks_for_whole_columns(1024, 132), 128);
    EXPECT_EQ(blocks_for_whole_columns(128, 132), 128);
    EXPECT_EQ(blocks_for_whole_columns(288, 66), 66);  // five rounds would be 4.4
    EXPECT_EQ(blocks_for_whole_columns(88, 132), 132); // cut once, all are busy
    EXPECT_EQ(blocks_for_whole_columns(511, 66), 66);  // would leave one column to be cut
    EXPECT_EQ(blocks_for_whole_columns(132, 132), 132);
  }

  TEST(WorkerWithHalfOfRows, GivesEveryWorkerOneTile)
  {
    for (const int tiles_x : {1, 2, 3, 4, 6, 8, 16})
      for (int workers = 1; workers <= 132; ++workers)
      {
        std::vector<int> taken(workers, 0);
        for (int number = 0; number < workers; ++number)
          ++taken.at(worker_with_half_of_rows(number, workers, tiles_x));
        for (const int count : taken)
          ASSERT_EQ(count, 1) << workers << " workers, " << tiles_x << " tiles";
      }
  }

  TEST(WorkerWithHalfOfRows, HasTheLeftTilesInTheFirstHalf)
  {
    constexpr int workers = 64, tiles_x = 8;
    for (int number = 0; number < workers; ++number)
    {
      const int worker = worker_with_half_of_rows(number, workers, tiles_x);
      EXPECT_EQ(worker % tiles_x < tiles_x / 2, number < workers / 2) << number;
      EXPECT_EQ(worker / tiles_x, number % (workers / 2) / (tiles_x / 2)) << number;
    }
    static_assert(worker_with_half_of_rows(5, 66, 8) == 5, "rows that are not whole");
    static_assert(worker_with_half_of_rows(5, 63, 7) == 5, "no half of a row");
  }
} // namespace
} // namespace tensormg::laplace
