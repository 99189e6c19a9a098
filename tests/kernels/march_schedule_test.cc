// Every layer of every tile is worked on exactly once, and the work is spread evenly.
#include "kernels/laplace/march_schedule.h"

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
          const MarchSchedule schedule(tiles, layers, blocks);
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
              for (int z = s.z0; z < s.z1; ++z)
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
} // namespace
} // namespace tensormg::laplace
