// How cuda_warps and cuda_warps_steps go through a grid: across the march x and (3D) y, along it `s`.
#pragma once

#include <array>
#include <cstdint>

namespace tensormg::stencil
{
struct WarpsMarch
{
  std::int64_t x, y;
  int s;
  int parts; ///< of the march; the first `longer` of them have one row (plane) more than the others
  int rows, longer;  ///< rows of the others
  std::int64_t step; ///< from a row (plane) to the next
  constexpr int begin(int part) const { return part * rows + (part < longer ? part : longer); }
};

constexpr WarpsMarch make_warps_march(int dim, const std::array<std::int64_t, 3> &points, int parts)
{
  const std::int64_t x = points[0], y = dim == 3 ? points[1] : 1;
  const auto s = static_cast<int>(points[dim == 3 ? 2 : 1]);
  return {x, y, s, parts, s / parts, s % parts, x * y};
}
} // namespace tensormg::stencil
