#include "kernels/diagnostics/stencil/fused_tile.h"

namespace tensormg::stencil
{
double fused_updates(const Stencil &stencil, const Grid &grid, int depth)
{
  const FusedBlocks blocks = fused_blocks(stencil.dim, stencil.radius, grid.points, depth);
  const FusedTile tile = fused_tile(stencil.dim);
  const auto columns = static_cast<double>(blocks.x * blocks.y * tile.x() * tile.y());
  const std::int64_t n = grid.points[stencil.dim == 3 ? 2 : 1];
  // Every block marches over its rows and two rims, and fills and drains its pipeline of steps.
  const auto rows = static_cast<double>(n + blocks.s * (2 * stencil.radius * depth + depth - 1));
  return columns * rows * depth;
}
} // namespace tensormg::stencil
