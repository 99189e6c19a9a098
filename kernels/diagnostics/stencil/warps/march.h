// How cuda_warps and cuda_warps_steps go through a grid: across the march x and (3D) y, along it `s`.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

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

/// How a grid is cut: tiles of a block across the march, and the march.
struct WarpsCut
{
  std::int64_t tiles_x, tiles_y;
  WarpsMarch march;
};

/// In which order blocks take tiles and parts of the march (cuda_warps). What runs at the same time are `group` rows of tiles,
/// everywhere along the march in `slabs` slabs of `steps` parts each, which follow each other. Slabs that touch go in
/// opposite directions.
struct WarpsOrder
{
  int tiles_x, group, slabs, steps;

  /// Of a block: x counts tiles and slabs, y parts of a slab, z groups.
  struct Place
  {
    int tile_x, tile_y, part;
    bool is_forward;
  };
  constexpr Place place(unsigned x, unsigned y, unsigned z) const
  {
    const auto tile = static_cast<int>(x), step = static_cast<int>(y);
    const int slab = tile / (tiles_x * group);
    const bool is_forward = slab % 2 == 1;
    return {tile % tiles_x, static_cast<int>(z) * group + tile / tiles_x % group,
        slab * steps + (is_forward ? step : steps - 1 - step), is_forward};
  }
};

/// Tiles of `columns` points in x and (3D) `lines` in y, the march in `parts_of(its rows, tiles_x, tiles_y)` parts. The kernel counts up to
/// `most_points` along the march and in x of planes; std::invalid_argument beyond.
template <typename PartsOf>
WarpsCut cut_grid(int dim, const std::array<std::int64_t, 3> &points, std::int64_t columns,
    std::int64_t lines, std::int64_t most_points, PartsOf parts_of)
{
  constexpr std::int64_t most_tiles = 65535;
  const auto divide_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const auto [nx, ny, nz] = points;
  const std::int64_t rows = dim == 3 ? nz : ny;
  if (rows > most_points || (dim == 3 && nx > most_points))
    throw std::invalid_argument("a stencil on more than " + std::to_string(most_points) +
        " rows, or planes of longer rows");
  const std::int64_t tiles_x = divide_up(nx, columns),
                     tiles_y = dim == 3 ? divide_up(ny, lines) : 1;
  if (tiles_y > most_tiles)
    throw std::invalid_argument("a stencil on planes of " + std::to_string(ny) + " rows");
  return {tiles_x, tiles_y, make_warps_march(dim, points, parts_of(rows, tiles_x, tiles_y))};
}
} // namespace tensormg::stencil
