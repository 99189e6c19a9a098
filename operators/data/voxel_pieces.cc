#include "operators/data/voxel_pieces.h"

#include <algorithm>
#include <cmath>

namespace tensormg
{
namespace
{
  /// Equal cells: in units of the box / (cells * voxels), so that nothing is rounded.
  void add_pieces_of_equal(
      VoxelPieces &pieces, const Axis &axis, std::int64_t cell, std::int64_t voxels)
  {
    const std::int64_t cells = axis.cells();
    const double unit = axis.mean_size() / static_cast<double>(voxels);
    const std::int64_t begin = cell * voxels, end = begin + voxels;
    for (std::int64_t from = begin; from < end;)
    {
      const std::int64_t to = std::min((from / cells + 1) * cells, end);
      pieces.middle.push_back(
          axis.lower() + 0.5 * (static_cast<double>(from) + static_cast<double>(to)) * unit);
      pieces.part.push_back(static_cast<double>(to - from) / static_cast<double>(voxels));
      from = to;
    }
  }

  /// Others: faces that are nearer than this part of a voxel are one.
  void add_pieces(VoxelPieces &pieces, const Axis &axis, std::int64_t cell, std::int64_t voxels)
  {
    constexpr double rounding = 1e-9;
    const double size = (axis.upper() - axis.lower()) / static_cast<double>(voxels);
    const auto in_voxels = [&](double t) {
      const double place = (axis.coordinate(cell, t) - axis.lower()) / size;
      const double nearest = std::round(place);
      return std::abs(place - nearest) <= rounding ? nearest : place;
    };
    const double begin = in_voxels(0.), end = in_voxels(1.);
    if (!(begin < end)) // far thinner than a voxel
    {
      pieces.middle.push_back(axis.coordinate(cell, 0.5));
      pieces.part.push_back(1.);
      return;
    }
    for (double from = begin; from < end;)
    {
      const double to = std::min(std::floor(from) + 1., end);
      pieces.middle.push_back(axis.lower() + 0.5 * (from + to) * size);
      pieces.part.push_back((to - from) / (end - begin));
      from = to;
    }
  }
} // namespace

VoxelPieces voxel_pieces(const LevelGrid &grid, int direction, std::int64_t voxels)
{
  const Axis &axis = grid.axis[static_cast<std::size_t>(direction)];
  VoxelPieces pieces;
  for (std::int64_t c = 0; c < grid.block.cells[direction]; ++c)
  {
    pieces.first.push_back(pieces.middle.size());
    const std::int64_t cell = grid.offset[direction] + c;
    if (axis.is_equal())
      add_pieces_of_equal(pieces, axis, cell, voxels);
    else
      add_pieces(pieces, axis, cell, voxels);
  }
  pieces.first.push_back(pieces.middle.size());
  return pieces;
}
} // namespace tensormg
