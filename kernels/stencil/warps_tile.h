// What a warp and a block of cuda_warps own, where a lane finds its neighbours in x, and how a march is cut into parts.
#pragma once

#include <algorithm>
#include <cstdint>

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

/// Parts of a march over n rows (planes), each done by `tiles` blocks: those for which all blocks are done soonest.
/// `resident` blocks run at the same time.
constexpr int warps_parts(
    int dim, int radius, std::int64_t n, std::int64_t tiles, std::int64_t resident)
{
  // Warps drift apart, and what two of them read should not have left the cache in between; parts that are too short
  // read much of it. Many parts need no care, and a launch has no more blocks than that along one of its sides.
  const std::int64_t most_rows = dim == 3 ? 32 : 24 * (radius + 1), fewest_rows = 8 * radius;
  constexpr std::int64_t candidates = 64, most_parts = 2 * 65535;
  const std::int64_t first = std::min(most_parts, (n + most_rows - 1) / most_rows);
  const std::int64_t last =
      std::max(first, std::min({n / fewest_rows, first + candidates, most_parts}));
  std::int64_t best = first, least = -1;
  for (std::int64_t parts = first; parts <= last; ++parts)
  {
    // The last blocks, when not all places are taken, still use the whole bandwidth of memory if there are enough.
    const std::int64_t beyond = parts * tiles % resident;
    const std::int64_t idle =
        beyond == 0 ? 0 : std::max<std::int64_t>(0, resident * 2 / 5 - beyond);
    // A part reads `radius` rows more at either end and needs the time of about one to start.
    const std::int64_t rows = (n + parts - 1) / parts + 2 * radius + 1;
    const std::int64_t time = (parts * tiles + idle) * rows;
    if (least < 0 || time < least)
    {
      least = time;
      best = parts;
    }
  }
  return static_cast<int>(best);
}
} // namespace tensormg::stencil
