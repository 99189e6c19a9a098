// What a warp and a block of cuda_warps own, where a lane finds its neighbours in x, and how a march is cut into parts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/diagnostics/stencil/warps/march.h"

namespace tensormg::stencil
{
/// `width` neighbouring columns of a lane; `lines` of y of a warp (3D); rows (planes) that are on their way from memory.
/// The warps of a block are neighbours in x (2D) or y (3D).
struct WarpsTile
{
  static constexpr int lanes = 32;
  int width, lines, ahead;
  int warps;
  int blocks; ///< of a multiprocessor that registers are kept free for
  constexpr int columns() const { return lanes * width; }
  constexpr int threads() const { return lanes * warps; }
};
/// By registers, which are dealt to four parts of a multiprocessor: 128 each for 16 warps, 168 for 12, 64 for 32. What
/// is on its way then is 24 KiB (3D box) to 64 KiB (2D, radius 1), some 20 KiB would hide one microsecond on an H200.
constexpr WarpsTile warps_tile(int dim, int radius, bool box, int width)
{
  if (dim == 3)
    return {width, 2, 2, box ? 6 : 8, 2};
  if (radius == 1)
    return {width, 1, 4, 8, 4};
  return {width, 1, 4, 4, box ? 3 : 4};
}

/// Numbers beside a strip that a lane holds: the columns that its neighbour in the next strip has, or if that is
/// cheaper, only the nearest one.
constexpr int halo_width(int radius, int width) { return radius == 1 ? 1 : width; }
/// Lanes that hold numbers of one side.
constexpr int halo_lanes(int radius, int width)
{
  return (radius + halo_width(radius, width) - 1) / halo_width(radius, width);
}
/// The first column, relative to the strip, that this lane holds: the last lanes have those left of the strip, the first
/// lanes those right of it. Nobody asks the lanes between, they hold what others have read anyway.
constexpr int halo_column(int lane, int radius, int width)
{
  const int held = halo_width(radius, width), lanes = WarpsTile::lanes;
  const int holding = halo_lanes(radius, width);
  return lane >= lanes / 2 ? std::max(lane - lanes, -holding) * held
                           : lanes * width + std::min(lane, holding - 1) * held;
}

/// Where column `at` is, relative to the first one of a lane: with the lane that is `lanes` further (modulo 32), there
/// at `component`, or, where this leaves the warp, in the halo that this lane holds instead, at `halo_component`.
struct Neighbour
{
  int lanes, component, halo_component;
  /// Whether this lane answers with its halo.
  constexpr bool is_from_halo(int lane) const
  {
    return lanes < 0 ? lane >= WarpsTile::lanes + lanes : lane < lanes;
  }
};
constexpr Neighbour neighbour(int at, int radius, int width)
{
  const int lanes = at < 0 ? -((width - 1 - at) / width) : at / width;
  const int component = at - lanes * width;
  return {lanes, component, halo_width(radius, width) == 1 ? 0 : component};
}

/// Slabs and parts of a march over n rows (planes) for which all blocks are done soonest; `resident` blocks run at the same time.
constexpr WarpsOrder warps_order(int dim, int radius, std::int64_t n, std::int64_t tiles_x,
    std::int64_t tiles_y, std::int64_t resident)
{
  const auto divide_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t groups = divide_up(tiles_y, std::max<std::int64_t>(1, resident / tiles_x));
  const std::int64_t group = divide_up(tiles_y, groups), tiles = tiles_x * tiles_y;
  const std::int64_t most_slabs = std::max<std::int64_t>(1, resident / (tiles_x * group));
  // Warps drift apart, and what two of them read should not have left the cache in between. Blocks that are all there are
  // begin together and may go twice as far. With larger radii more is computed twice where parts touch.
  const std::int64_t most_rows = dim == 3 ? 48 : radius == 1 ? 24 : 96, fewest_rows = 8 * radius;
  constexpr std::int64_t candidates = 64, most_steps = 65535; // of blocks along a side of a launch
  const std::int64_t first = std::min(most_slabs * most_steps,
      n <= 2 * most_rows * most_slabs ? std::min(most_slabs, divide_up(n, most_rows))
                                      : divide_up(n, most_rows));
  const std::int64_t last =
      std::max(first, std::min({n / fewest_rows, first + candidates, most_slabs * most_steps}));
  WarpsOrder best{};
  std::int64_t least = -1;
  for (std::int64_t wanted = first; wanted <= last; ++wanted)
  {
    const std::int64_t slabs = std::min(wanted, most_slabs), steps = divide_up(wanted, slabs);
    const std::int64_t parts = slabs * steps;
    // The last blocks, when not all places are taken, use the bandwidth of memory as more of them would.
    const std::int64_t beyond = parts * tiles % resident;
    const std::int64_t idle =
        beyond == 0 ? 0 : std::max(resident * 3 / 5 - beyond, (resident - beyond) / 5);
    // A part reads `radius` rows more at either end and needs the time of about one to start.
    const std::int64_t rows = divide_up(n, parts) + 2 * radius + 1;
    const std::int64_t time = (parts * tiles + idle) * rows;
    if (least < 0 || time < least)
    {
      least = time;
      best = {static_cast<int>(tiles_x), static_cast<int>(group), static_cast<int>(slabs),
          static_cast<int>(steps)};
    }
  }
  return best;
}
} // namespace tensormg::stencil
