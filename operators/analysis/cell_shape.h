// Angles and aspect ratios of curved cells.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "operators/analysis/mesh_shape.h"
#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/cell_map.h"
#include "operators/pointwise/cell_quadrature.h"

namespace tensormg
{
/// Of J = dx/dxi of one cell: a square or a cube has 90, 90 and 1.
struct CellShape
{
  /// In degrees, between two edges that meet in a corner: their tangents there, columns of J. All pairs at all corners.
  double smallest_angle = 90., largest_angle = 90.;
  /// The quotient of the largest and the smallest singular value of J, the largest at the corners and in the middle: deal.II's GridTools::compute_aspect_ratio_of_cells, with
  /// these points. Infinite where J is singular.
  double aspect_ratio = 1.;
};

/// Of the cells of a level.
class CellShapes
{
public:
  /// `geometry` must outlive the object.
  CellShapes(const BlockGeometry &geometry, const BlockLevel &level);
  CellShape of(const CellPlace &place) const;

private:
  std::array<std::array<double, 3>, 3> columns(
      const std::vector<std::array<double, 3>> &nodes, std::size_t point) const;

  int dim_;
  CellNodes nodes_;
  /// [point][direction][node], the points being the corners, x fastest, and the middle: the derivatives of the nodes' polynomials.
  std::vector<std::array<std::vector<double>, 3>> derivatives_;
};

/// Of all cells of all ranks: collective over the level's communicator.
MeshShape shape_of_mesh(const BlockGeometry &geometry, const BlockLevels::Level &level);
} // namespace tensormg
