// The parts of a grid's cells that lie in one voxel each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "operators/mesh/grid.h"

namespace tensormg
{
/// Of the local cells in one direction: cell c has the pieces first[c] to first[c + 1], in the order of the coordinate.
struct VoxelPieces
{
  std::vector<std::size_t> first;
  std::vector<double> middle; ///< coordinate of the middle of a piece
  std::vector<double> part;   ///< its part of the cell; those of a cell have the sum 1
};

/// The box has `voxels` >= 1 equal ones in this direction. Ends of pieces are found in integers: none is an effect of rounding.
VoxelPieces voxel_pieces(const LevelGrid &grid, int direction, std::int64_t voxels);
} // namespace tensormg
