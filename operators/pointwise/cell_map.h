// A cell of a block as a map from the reference cell: positions and derivatives at tensor products of points.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/core/block.h"
#include "kernels/laplace/pointwise/lanes.h"
#include "operators/blocks/block_geometry.h"

namespace tensormg
{
template <typename T>
using Matrix3Of = std::array<std::array<T, 3>, 3>;
using Matrix3 = Matrix3Of<double>;

template <typename T>
T determinant(const Matrix3Of<T> &m)
{
  T det{};
  for (int i = 0; i < 3; ++i)
    det +=
        m[0][i] * (m[1][(i + 1) % 3] * m[2][(i + 2) % 3] - m[1][(i + 2) % 3] * m[2][(i + 1) % 3]);
  return det;
}
template <typename T>
Matrix3Of<T> inverse(const Matrix3Of<T> &m, T det)
{
  Matrix3Of<T> result{};
  const T factor = 1. / det;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      result[j][i] = factor *
          (m[(i + 1) % 3][(j + 1) % 3] * m[(i + 2) % 3][(j + 2) % 3] -
              m[(i + 1) % 3][(j + 2) % 3] * m[(i + 2) % 3][(j + 1) % 3]);
  return result;
}

/// Throws MeshError, naming block and place, where det J is not positive.
void check_fold(std::int64_t block, const std::array<double, 3> &x, double det, int dim);

/// The Lagrange polynomials of a cell's nodes at points of a line.
struct LinePoints
{
  LinePoints(const std::vector<double> &nodes, const std::vector<double> &points)
    : value(lagrange_values(nodes, points))
    , derivative(lagrange_derivatives(nodes, points))
  {}
  std::vector<double> value, derivative;
};

/// Points of a cell, in the order of a tensor product, x fastest.
struct CellPoints
{
  std::vector<std::array<double, 3>> x;
  std::vector<double> det;        ///< of J = dx/dxi
  std::vector<Matrix3> inverse_j; ///< [q][a][i] = dxi_a / dx_i; in 2D with one at [2][2]

  std::size_t size() const { return x.size(); }
  /// The element of the surface of a side in direction d: det J times the length of row d of the inverse.
  double surface(std::size_t q, int d) const;
};

/// From the (degree + 1)^dim nodes of a cell, Gauss-Lobatto points of each direction.
class CellMap
{
public:
  CellMap(int dim, int degree)
    : dim_(dim)
    , nodes_(static_cast<std::size_t>(degree) + 1)
  {}

  /// Throws MeshError, naming block and place, where det J is not positive.
  CellPoints at(const std::vector<std::array<double, 3>> &nodes,
      const std::array<const LinePoints *, 3> &lines, std::int64_t block) const;

private:
  /// Of the directions, the unused one empty; then the positions. All x, then y and z.
  std::array<std::vector<double>, 4> derivatives_and_positions(
      const std::vector<std::array<double, 3>> &nodes,
      const std::array<const LinePoints *, 3> &lines) const;

  int dim_;
  std::size_t nodes_; ///< of a direction
};

/// The same of several cells at a time. Keeps its memory from one call to the next.
class LaneMap
{
public:
  struct Points
  {
    std::vector<std::array<Lanes, 3>> x;
    std::vector<Lanes> det; ///< of any sign: at() does not check it
    std::vector<Matrix3Of<Lanes>> inverse_j;
  };

  LaneMap(int dim, int degree)
    : dim_(dim)
    , nodes_(static_cast<std::size_t>(degree) + 1)
  {}

  /// nodes: all x, then y and z.
  void at(const std::vector<Lanes> &nodes, const std::array<const LinePoints *, 3> &lines,
      Points &result);

private:
  int dim_;
  std::size_t nodes_; ///< of a direction
  std::array<std::vector<Lanes>, 3> derivatives_;
  std::vector<Lanes> positions_, scratch_;
};

/// Blocks of so many cells per direction, and the polynomial degree of the cells' geometry, which takes its Gauss-Lobatto points from the blocks.
struct BlockLevel
{
  std::int64_t per_direction = 1;
  int mapping_degree = 1;
  /// The blocks that this rank has.
  std::int64_t first = 0;
  std::int64_t count = -1; ///< -1: all

  std::int64_t end(const BlockGeometry &geometry) const
  {
    return count < 0 ? geometry.n_blocks() : first + count;
  }
  /// Its cells, block by block in x.
  Block cells(const BlockGeometry &geometry, int degree) const
  {
    const std::int64_t n = per_direction;
    return {geometry.dim(), degree, {(end(geometry) - first) * n, n, geometry.dim() == 3 ? n : 1}};
  }
  /// The cells of one block.
  Block cells_of_block(const BlockGeometry &geometry) const
  {
    const std::int64_t n = per_direction;
    return {geometry.dim(), 0, {n, n, geometry.dim() == 3 ? n : 1}};
  }
  /// Where among them cell x of a block is.
  std::int64_t stacked(std::int64_t block, std::int64_t x) const
  {
    return (block - first) * per_direction + x;
  }
};

/// Calls use(cell) for the cells of blocks side by side, x fastest.
template <typename Use>
void for_stacked_cells(const Block &block, const Use &use)
{
  for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
    for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
      for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
        use(std::array<std::int64_t, 3>{cx, cy, cz});
}

/// The nodes of the cells of a level.
class CellNodes
{
public:
  /// `geometry` must outlive the object.
  CellNodes(const BlockGeometry &geometry, const BlockLevel &level);
  /// Of one cell of a block: (mapping_degree + 1)^dim points, x fastest. Those of all cells of a row in x are found at once and kept: not for several
  /// threads at a time.
  std::vector<std::array<double, 3>> of(
      std::int64_t block, const std::array<std::int64_t, 3> &cell) const;

private:
  struct Row
  {
    std::int64_t block = -1, y = 0, z = 0;
    std::vector<std::array<double, 3>> points; ///< x fastest, those of two neighbours once
  };
  mutable Row row_; ///< the last one
  const BlockGeometry &geometry_;
  std::size_t degree_, of_row_ = 0; ///< points of a row at the same y and z
  /// Of the polynomials of a block: of all points of a row, and by place of a cell in a direction.
  std::vector<double> row_matrix_;
  std::vector<std::vector<double>> matrices_;
};

/// The same for one cell alone.
std::vector<std::array<double, 3>> cell_nodes(const BlockGeometry &geometry,
    const BlockLevel &level, std::int64_t block, const std::array<std::int64_t, 3> &cell);
} // namespace tensormg
