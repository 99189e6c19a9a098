#include "operators/data/voxel_pieces.h"

#include <algorithm>

namespace tensormg
{
VoxelPieces voxel_pieces(const LevelGrid &grid, int direction, std::int64_t voxels)
{
  // In units of the box / (cells * voxels).
  const std::int64_t cells = grid.global_cells[direction];
  const double unit = grid.cell_size[direction] / static_cast<double>(voxels);
  VoxelPieces pieces;
  for (std::int64_t c = 0; c < grid.block.cells[direction]; ++c)
  {
    pieces.first.push_back(pieces.middle.size());
    const std::int64_t begin = (grid.offset[direction] + c) * voxels, end = begin + voxels;
    for (std::int64_t from = begin; from < end;)
    {
      const std::int64_t to = std::min((from / cells + 1) * cells, end);
      pieces.middle.push_back(grid.lower[direction] +
          0.5 * (static_cast<double>(from) + static_cast<double>(to)) * unit);
      pieces.part.push_back(static_cast<double>(to - from) / static_cast<double>(voxels));
      from = to;
    }
  }
  pieces.first.push_back(pieces.middle.size());
  return pieces;
}
} // namespace tensormg
