// The grid as the host kernel sees it: x, a middle and a slowest direction, cut into boxes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/diagnostics/stencil/stencil.h"

namespace tensormg::stencil
{
/// Half-open range of points.
struct Span
{
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  /// Wider by `margin` at both sides, but within [0, n).
  Span widened(std::int64_t margin, std::int64_t n) const
  {
    return {std::max<std::int64_t>(0, begin - margin), std::min(n, end + margin)};
  }
};

/// x, middle, slowest.
using Box = std::array<Span, 3>;

/// The sizes in x, the middle and the slowest direction: in 2D, y is the slowest.
inline std::array<std::int64_t, 3> directions_of(const Stencil &stencil, const Grid &grid)
{
  return stencil.dim == 3 ? grid.points
                          : std::array<std::int64_t, 3>{grid.points[0], 1, grid.points[1]};
}

/// The offset of a tap in these directions.
inline std::array<int, 3> offset_of(const Stencil &stencil, const Tap &tap)
{
  return stencil.dim == 3 ? tap.offset : std::array<int, 3>{tap.offset[0], 0, tap.offset[1]};
}

/// What tiles grow by per step: nothing in a direction that is not there.
inline std::array<int, 3> radius_of(const Stencil &stencil)
{
  return {stencil.radius, stencil.dim == 3 ? stencil.radius : 0, stencil.radius};
}

/// All boxes of a plan, x fastest.
class Boxes
{
public:
  Boxes(const Stencil &stencil, const Grid &grid, const Plan &plan)
    : n_(directions_of(stencil, grid))
    , tile_(plan.tile)
  {
    for (std::size_t d = 0; d < 3; ++d)
      count_[d] = (n_[d] + tile_[d] - 1) / tile_[d];
  }
  std::int64_t count() const { return count_[0] * count_[1] * count_[2]; }
  Box box(std::int64_t index) const
  {
    Box box;
    for (std::size_t d = 0; d < 3; ++d)
    {
      const std::int64_t at = index % count_[d];
      index /= count_[d];
      box[d] = {at * tile_[d], std::min(n_[d], (at + 1) * tile_[d])};
    }
    return box;
  }

private:
  std::array<std::int64_t, 3> n_, tile_, count_{};
};

/// The part of the grid on which step `step` of `depth` (counted from 1) is needed for a box.
inline Box needed_box(const Box &box, int step, int depth, const std::array<int, 3> &radius,
    const std::array<std::int64_t, 3> &n)
{
  Box result;
  for (std::size_t d = 0; d < 3; ++d)
    result[d] = box[d].widened(static_cast<std::int64_t>(depth - step) * radius[d], n[d]);
  return result;
}
} // namespace tensormg::stencil
