// Where nodes and points of the cells of a mesh lie, in the order of vectors of the library (tensormg/mesh_solver.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "operators/pointwise/block_problem.h"
#include "operators/pointwise/cell_map.h"
#include "operators/pointwise/cell_quadrature.h"

namespace tensormg
{
/// The number of a cell of a level among those that this rank has: block by block, x fastest.
inline std::int64_t cell_number(const BlockLevel &level, int dim, const CellPlace &place)
{
  const std::int64_t n = level.per_direction, planes = dim == 3 ? n : 1;
  return (((place.block - level.first) * planes + place.cell[2]) * n + place.cell[1]) * n +
      place.cell[0];
}

/// Of the cells of a level that this rank has: tensor products of coordinates of [0, 1], the same in each direction.
class MeshPoints
{
public:
  using Point = std::array<double, 3>;
  /// x, y and z of points, z empty where nobody wants it.
  using Coordinates = std::array<std::span<double>, 3>;

  /// Everything must outlive the object.
  MeshPoints(const BlockProblem &problem, const BlockLevel &level, const std::vector<double> &line);

  int dim() const { return problem_.blocks.dim; }
  std::int64_t per_side() const { return dim() == 3 ? n_ * n_ : n_; }
  std::int64_t per_cell() const { return per_side() * n_; }
  std::int64_t n_cells() const;
  /// Of the cell, or on side 2 d + s.
  std::vector<Point> of(const CellPlace &place, int side = -1) const;
  /// The mean of its corners.
  Point middle(const CellPlace &place) const;

  /// Calls use(place) for the cells, in order.
  template <typename Use>
  void for_cells(const Use &use) const
  {
    for_each_cell(problem_.geometry, level_, use);
  }
  /// Calls use(place, side) for the sides of cells at a boundary.
  template <typename Use>
  void for_sides(int boundary, const Use &use) const
  {
    for_cells([&](const CellPlace &place) {
      for (int side = 0; side < 2 * dim(); ++side)
      {
        const BlockSide &other = problem_.blocks.sides[static_cast<std::size_t>(place.block)][side];
        const std::int64_t end = side % 2 == 1 ? level_.per_direction - 1 : 0;
        if (other.neighbour < 0 && other.boundary == boundary && place.cell[side / 2] == end)
          use(place, side);
      }
    });
  }

private:
  const BlockProblem &problem_;
  const BlockLevel &level_;
  std::int64_t n_;
  CellNodes nodes_;
  std::vector<double> inside_; ///< the polynomials of nodes at the points of a line
  std::array<std::vector<double>, 2> ends_;
};

/// Writes points from number `at` on, which then is the next one.
void write_points(const std::vector<MeshPoints::Point> &points, const MeshPoints::Coordinates &to,
    std::size_t &at);
} // namespace tensormg
