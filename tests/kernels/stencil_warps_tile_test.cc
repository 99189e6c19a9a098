// Who has which column in cuda_warps, and how it cuts a march: without a device.
#include "kernels/stencil/warps_tile.h"

#include <cstdint>

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
    for (const int dim : {2, 3})
      for (const int radius : {1, 3})
        for (const std::int64_t n : {1, 2, 7, 8, 31, 320, 1000, 5632, 1000000, 2000000000})
          for (const std::int64_t tiles : {1, 11, 100, 5000})
            for (const std::int64_t resident : {132, 264, 528})
            {
              const std::int64_t parts = warps_parts(dim, radius, n, tiles, resident);
              EXPECT_GE(parts, 1);
              EXPECT_LE(parts, n);
              EXPECT_LE((parts + 1) / 2, 65535);
            }
    // A grid that fills a GPU: few rows are read twice, and hardly a place is empty.
    const std::int64_t parts = warps_parts(2, 1, 5632, 11, 528);
    EXPECT_LT(2. * static_cast<double>(parts) / 5632., 0.05);
    const std::int64_t beyond = parts * 11 % 528;
    EXPECT_TRUE(beyond == 0 || 5 * beyond >= 2 * 528 - 5 * 11) << beyond;
    // A small one is cut for all multiprocessors.
    EXPECT_GE(warps_parts(2, 1, 1408, 3, 528) * 3, 2 * 528 / 5);
  }
} // namespace
} // namespace tensormg
