// Where the points of blocks lie.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "operators/blocks/block_mesh.h"

namespace tensormg
{
/// Nodes of a line, Gauss-Lobatto points of [0, 1]: degree + 1 of them, ascending.
std::vector<double> lobatto_nodes(int degree);
/// matrix[q * nodes.size() + i] = l_i(points[q]) of the Lagrange polynomials of these nodes, and its derivatives.
std::vector<double> lagrange_values(
    const std::vector<double> &nodes, const std::vector<double> &points);
std::vector<double> lagrange_derivatives(
    const std::vector<double> &nodes, const std::vector<double> &points);

/// to[.., q, ..] = sum over i of matrix[q][i] from[.., i, ..] of points in a direction that has `count` of them, `stride` apart.
std::vector<std::array<double, 3>> contracted(const std::vector<std::array<double, 3>> &from,
    const std::vector<double> &matrix, std::size_t stride, std::size_t count);

/// Positions as polynomials of one degree in each block: at tensor products of Gauss-Lobatto points, x fastest.
class BlockGeometry
{
public:
  using Point = std::array<double, 3>;

  /// Bilinear or trilinear, from the corners.
  explicit BlockGeometry(const BlockMesh &mesh);
  /// nodes[b]: (degree + 1)^dim points of block b.
  BlockGeometry(int dim, int degree, std::vector<std::vector<Point>> nodes);

  /// Where f moves the points: as polynomials of this degree through the images of the Gauss-Lobatto points.
  BlockGeometry mapped(int degree, const std::function<Point(const Point &)> &f) const;

  /// The same with all points where f moves them, which takes a list of points at once. Points that two blocks share must stay together.
  BlockGeometry moved(std::function<void(std::vector<Point> &)> f) const;

  /// The same blocks in another order: block i of the result is block order[i].
  BlockGeometry reordered(const std::vector<std::int64_t> &order) const;
  /// Each block as 2^dim of them, one after the other, bit d of their number being the end in direction d: the same polynomials.
  BlockGeometry split() const;

  int dim() const { return dim_; }
  int degree() const { return static_cast<int>(line_.size()) - 1; }
  std::int64_t n_blocks() const { return static_cast<std::int64_t>(nodes_.size()); }
  /// Whether positions are these polynomials, not moved.
  bool is_polynomial() const { return !move_; }

  /// For points(): the matrix of these coordinates.
  std::vector<double> line_matrix(const std::vector<double> &coordinates) const
  {
    return lagrange_values(line_, coordinates);
  }
  /// By the matrices of the three directions.
  std::vector<Point> points(
      std::int64_t block, const std::array<const std::vector<double> *, 3> &matrices) const;
  /// The points of a block at the tensor product of reference coordinates of [0, 1], x fastest; in 2D those of z are not read.
  std::vector<Point> points(
      std::int64_t block, const std::array<std::vector<double>, 3> &coordinates) const;

private:
  int dim_;
  std::vector<double> line_;
  std::vector<std::vector<Point>> nodes_;
  std::function<void(std::vector<Point> &)> move_; ///< may be empty
};
} // namespace tensormg
