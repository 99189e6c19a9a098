// How far the cells of a mesh are from cubes.
#pragma once

namespace tensormg
{
/// The worst of all cells, and the mean of what each of them has as its worst; of cubes 90, 90 and 1.
struct MeshShape
{
  /// In degrees, between two edges that meet in a corner (CellShape, cell_shape.h).
  double smallest_angle = 90., largest_angle = 90.;
  double aspect_ratio = 1.; ///< of the singular values of J
  double mean_smallest_angle = 90., mean_largest_angle = 90., mean_aspect_ratio = 1.;
};
} // namespace tensormg
