// Vertices that have two unknowns: where stiff cells meet in nothing but a corner.
#pragma once

#include <cstdint>
#include <vector>

#include "operators/cellwise/vertex_multigrid.h"
#include "operators/mesh/cell_numbers.h"
#include "operators/mesh/grid.h"

namespace tensormg
{
/// In 3D two cells of a vertex that lie opposite may move against each other almost freely, where the six others are much softer: discontinuous
/// elements do, at the faces between soft cells, continuous ones cannot. There the stiff cell of octant `octant` and the
/// three that share a face with it have an unknown of their own, and the four others the usual one.
class VertexSplits
{
public:
  VertexSplits() = default;
  /// Collective over the level's communicator; on all ranks the same.
  VertexSplits(
      const LevelGrid &level, const VertexGrid &grid, const laplace::CellNumbers<double> &cells);

  std::int64_t size() const { return std::ssize(octants_); }
  /// The split that gives the cell in `octant` of a vertex (bit d: above it in direction d) another unknown than the usual one; -1: none.
  std::int64_t of(std::int64_t place, int octant) const
  {
    if (octants_.empty())
      return -1;
    const std::int32_t split = at_[static_cast<std::size_t>(place)];
    return split >= 0 && belongs(octants_[static_cast<std::size_t>(split)], octant) ? split : -1;
  }

  /// Whether the cells share a face, or are one.
  static constexpr bool belongs(int a, int b)
  {
    const int difference = a ^ b;
    return (difference & (difference - 1)) == 0;
  }

private:
  std::vector<std::int32_t> at_; ///< by place of the vertex; -1: not split
  std::vector<int> octants_;
};
} // namespace tensormg
