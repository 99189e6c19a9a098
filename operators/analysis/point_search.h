// In which curved cells points lie.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "operators/blocks/block_geometry.h"
#include "operators/pointwise/cell_map.h"
#include "operators/pointwise/cell_quadrature.h"

namespace tensormg
{
/// A box.
struct Extent
{
  std::array<double, 3> lower{INFINITY, INFINITY, INFINITY}, upper{-INFINITY, -INFINITY, -INFINITY};

  void add(const std::array<double, 3> &x);
  bool meets(const Extent &other, int dim) const;
};

/// Inverts the polynomials of cells of one degree.
///
/// A polynomial lies within the box around its coefficients by Bernstein's polynomials. A cell is halved in all directions, up to four times, and parts whose box does not hold
/// the point are left out; boxes have the axes of J in the middle of the part, so that those of parallelepipeds are exact. In a part that is left Newton's method starts from its middle
/// (at first the cell's nearest node), with steps that are halved until J^-1 times the distance is smaller.
class PointSearch
{
public:
  using Point = std::array<double, 3>;
  PointSearch(int dim, int mapping_degree);

  struct Place
  {
    Point x{};
    Matrix3 j{}; ///< [i][a] = dx_i / dxi_a, in 2D with one at [2][2]
  };
  /// A cell or a part of it, and a box that holds it.
  struct Part
  {
    std::vector<Point> nodes;
    Point lower{}; ///< in the reference coordinates of the cell
    double size = 1.;
    std::optional<Matrix3> axes; ///< of the box: J^-1 in the middle, or nothing where it has none
    Extent box;                  ///< of the coefficients less node 0, in these axes
    std::vector<Part> halves{};  ///< made when a point asks for them
  };

  /// nodes: (mapping_degree + 1)^dim
  Part cell(const std::vector<Point> &nodes) const { return make_part(nodes, {}, 1.); }
  /// The reference coordinates in [0, 1], or outside of it by at most 1e-6; nothing where the point is not in the cell.
  std::optional<Point> in_cell(Part &cell, const Point &point) const;
  std::optional<Point> in_cell(const std::vector<Point> &nodes, const Point &point) const
  {
    Part part = cell(nodes);
    return in_cell(part, point);
  }

  /// Where a point of the reference cell lies.
  Place place(const std::vector<Point> &nodes, const Point &reference) const;

  /// Coefficients by Bernstein's polynomials of the polynomial with these nodes.
  std::vector<Point> coefficients(const std::vector<Point> &nodes) const;

private:
  Part make_part(std::vector<Point> nodes, const Point &lower, double size) const;
  bool may_hold(const Part &part, const Point &point) const;
  Point nearest_node(const std::vector<Point> &nodes, const Point &point) const;
  std::optional<Point> newton(
      const std::vector<Point> &nodes, const Point &point, Point reference) const;
  std::optional<Point> search(const std::vector<Point> &nodes, Part &part, const Point &point,
      const std::optional<Point> &start) const;
  Part half(const Part &part, unsigned child) const;

  int dim_;
  std::vector<double> line_;    ///< nodes of a direction
  std::vector<double> factors_; ///< of node i: 1 / prod_{j != i} (x_i - x_j)
  std::vector<double> bernstein_;
  std::array<std::vector<double>, 2> halves_;
};

/// A cell in which a point lies, and where: reference coordinates of [0, 1].
struct PointInCell
{
  CellPlace place;
  std::array<double, 3> reference{};
};

/// For each point the cells that this rank has of the level in which it lies, or on whose sides, up to 1e-6 of a cell. None: it lies elsewhere, or outside of the mesh.
std::vector<std::vector<PointInCell>> find_points(const BlockGeometry &geometry,
    const BlockLevel &level, const std::vector<std::array<double, 3>> &points);
} // namespace tensormg
