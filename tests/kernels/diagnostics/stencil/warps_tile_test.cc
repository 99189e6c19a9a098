// Who has which column in cuda_warps, and how it cuts a march: without a device.
#include "kernels/diagnostics/stencil/warps/tile.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  using namespace stencil;

  /// The column, relative to the strip, of a component that a lane shows to the others.
  int shown_column(const Neighbour &n, int lane, int radius, int width)
  {
    return n.is_from_halo(lane) ? halo_column(lane, radius, width) + n.halo_component
                                : lane * width + n.component;
  }

  TEST(StencilWarpsTile, LanesFindTheirNeighbours)
  {
    for (const int radius : {1, 3})
      for (const int width : {1, 2, 4})
        for (int at = -radius; at < width + radius; ++at)
        {
          const Neighbour n = neighbour(at, radius, width);
          EXPECT_GE(n.component, 0);
          EXPECT_LT(n.component, width);
          EXPECT_GE(n.halo_component, 0);
          EXPECT_LT(n.halo_component, halo_width(radius, width));
          for (int lane = 0; lane < WarpsTile::lanes; ++lane)
          {
            const int source = (lane + n.lanes + WarpsTile::lanes) % WarpsTile::lanes;
            EXPECT_EQ(shown_column(n, source, radius, width), lane * width + at)
                << "radius " << radius << ", width " << width << ", lane " << lane << ", at " << at;
          }
        }
  }

  TEST(StencilWarpsTile, LanesHoldWhatLiesBesideTheStrip)
  {
    for (const int radius : {1, 3})
      for (const int width : {1, 2, 4})
        for (int lane = 0; lane < WarpsTile::lanes; ++lane)
        {
          const int columns = WarpsTile::lanes * width, held = halo_width(radius, width);
          const int reach = halo_lanes(radius, width) * held;
          const int column = halo_column(lane, radius, width);
          EXPECT_GE(reach, radius);
          EXPECT_EQ(column % held, 0); // so that all of them are in the grid, or none
          EXPECT_TRUE(
              (column >= -reach && column < 0) || (column >= columns && column < columns + reach));
        }
  }

  TEST(StencilWarpsTile, PartsOfAMarch)
  {
    struct Tiles
    {
      std::int64_t x, y;
    };
    for (const int dim : {2, 3})
      for (const int radius : {1, 3})
        for (const std::int64_t n : {1, 2, 7, 8, 31, 320, 1000, 5632, 1000000, 2000000000})
          for (const Tiles &tiles : {Tiles{1, 1}, {11, 1}, {5, 20}, {16, 64}, {5000, 1}})
            for (const std::int64_t resident : {132, 264, 528})
            {
              const WarpsOrder order = warps_order(dim, radius, n, tiles.x, tiles.y, resident);
              const std::int64_t parts = static_cast<std::int64_t>(order.slabs) * order.steps;
              EXPECT_GE(order.slabs, 1);
              EXPECT_GE(order.steps, 1);
              EXPECT_LE(parts, n);
              EXPECT_LE(order.steps, 65535);
              EXPECT_EQ(order.tiles_x, tiles.x);
              EXPECT_GE(order.group, 1);
              EXPECT_LE(order.group, tiles.y);
              // Slabs run at the same time.
              EXPECT_TRUE((order.slabs == 1 && order.group == 1) ||
                  tiles.x * order.group * order.slabs <= resident);
            }
    // A grid that fills a GPU: parts of some twenty rows, and hardly a place is empty.
    const WarpsOrder order = warps_order(2, 1, 5632, 11, 1, 528);
    const int parts = order.slabs * order.steps;
    EXPECT_EQ(order.slabs, 528 / 11);
    EXPECT_GE(5632 / parts, 16);
    const int beyond = parts * 11 % 528;
    EXPECT_TRUE(beyond == 0 || 5 * beyond >= 3 * 528 - 5 * 11) << beyond;
    // A small one is cut for all multiprocessors.
    const WarpsOrder small = warps_order(2, 1, 1408, 3, 1, 528);
    EXPECT_GE(small.slabs * small.steps * 3, 3 * 528 / 5);
    // All of a grid by blocks that run at the same time.
    const WarpsOrder once = warps_order(3, 1, 256, 2, 16, 264);
    EXPECT_EQ(once.slabs, 8);
    EXPECT_EQ(once.steps, 1);
    // Where a plane has more tiles than run at once, whole rows of them march through all of the grid.
    const WarpsOrder large = warps_order(3, 1, 1024, 16, 64, 264);
    EXPECT_EQ(large.group, 16);
    EXPECT_EQ(large.slabs, 1);
  }

  TEST(StencilWarpsTile, BlocksTakeEveryTileOfEveryPartOnce)
  {
    for (const WarpsOrder &order :
        {WarpsOrder{1, 1, 1, 1}, {3, 4, 1, 5}, {2, 3, 4, 3}, {5, 1, 3, 2}})
    {
      constexpr unsigned groups = 2;
      const int tiles_y = static_cast<int>(groups) * order.group;
      std::vector<int> visits(
          static_cast<std::size_t>(order.tiles_x * tiles_y * order.slabs * order.steps));
      for (unsigned z = 0; z < groups; ++z)
        for (unsigned y = 0; y < static_cast<unsigned>(order.steps); ++y)
          for (unsigned x = 0; x < static_cast<unsigned>(order.tiles_x * order.group * order.slabs);
               ++x)
          {
            const WarpsOrder::Place at = order.place(x, y, z);
            ASSERT_LT(at.tile_x, order.tiles_x);
            ASSERT_LT(at.tile_y, tiles_y);
            ASSERT_LT(at.part, order.slabs * order.steps);
            ++visits[static_cast<std::size_t>(
                (at.part * tiles_y + at.tile_y) * order.tiles_x + at.tile_x)];
            // Slabs that touch go in opposite directions, and a part begins where another has just ended.
            EXPECT_EQ(at.is_forward, at.part / order.steps % 2 == 1);
            const int before = y == 0 ? at.part : order.place(x, y - 1, z).part;
            EXPECT_EQ(at.part - before, y == 0 ? 0 : at.is_forward ? 1 : -1);
          }
      EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](int n) { return n == 1; }));
    }
  }
} // namespace
} // namespace tensormg
