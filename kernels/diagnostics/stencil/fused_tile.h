// How cuda_fused cuts a grid into blocks: a tile of columns with its rim, and a part of the march.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/diagnostics/stencil/stencil.h"

namespace tensormg::stencil
{
/// Threads and columns of a block, across the march.
struct FusedTile
{
  int threads_x, threads_y;
  int points_x, points_y; ///< of a thread
  constexpr int x() const { return threads_x * points_x; }
  constexpr int y() const { return threads_y * points_y; }
  constexpr int threads() const { return threads_x * threads_y; }
  constexpr int points() const { return points_x * points_y; }
};
constexpr FusedTile fused_tile(int dim)
{
  return dim == 2 ? FusedTile{256, 1, 2, 1} : FusedTile{64, 8, 1, 4};
}

/// The blocks of a grid.
struct FusedBlocks
{
  std::int64_t x, y, s; ///< how many
  std::int64_t rows;    ///< of the result, per block
};
constexpr FusedBlocks fused_blocks(
    int dim, int radius, const std::array<std::int64_t, 3> &points, int depth)
{
  const auto divide_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const FusedTile tile = fused_tile(dim);
  const int rim = 2 * radius * depth;
  FusedBlocks blocks{};
  blocks.x = divide_up(points[0], tile.x() - rim);
  blocks.y = dim == 3 ? divide_up(points[1], tile.y() - rim) : 1;
  const std::int64_t n = dim == 3 ? points[2] : points[1];
  // Enough blocks for a large GPU, rows enough that those read twice do not count.
  constexpr std::int64_t blocks_wanted = 2048;
  const std::int64_t fewest_rows = 32 * radius * depth;
  blocks.rows = std::max(fewest_rows, divide_up(n * blocks.x * blocks.y, blocks_wanted));
  blocks.s = divide_up(n, blocks.rows);
  return blocks;
}
} // namespace tensormg::stencil
