// Vertices that have two unknowns: where stiff cells meet in nothing but a corner.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/vertices/vertices.h"
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
    return split >= 0 && vertices::share_face(octants_[static_cast<std::size_t>(split)], octant)
        ? split
        : -1;
  }

  /// Of a vertex that is split; -1: it is not.
  std::int32_t of_vertex(std::int64_t place) const
  {
    return octants_.empty() ? -1 : at_[static_cast<std::size_t>(place)];
  }
  const std::vector<std::int32_t> &octants() const { return octants_; }

private:
  std::vector<std::int32_t> at_; ///< by place of the vertex; -1: not split
  std::vector<std::int32_t> octants_;
};
} // namespace tensormg
