#include "operators/pointwise/cell_map.h"

#include <cmath>
#include <string>
#include <utility>

#include "operators/data/contraction.h"
#include "operators/data/tensor_rule.h"
#include "tensormg/report.h"

namespace tensormg
{
using Point = std::array<double, 3>;

double determinant(const Matrix3 &m)
{
  double det = 0.;
  for (int i = 0; i < 3; ++i)
    det +=
        m[0][i] * (m[1][(i + 1) % 3] * m[2][(i + 2) % 3] - m[1][(i + 2) % 3] * m[2][(i + 1) % 3]);
  return det;
}

Matrix3 inverse(const Matrix3 &m, double det)
{
  Matrix3 result{};
  const double factor = 1. / det;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      result[j][i] = factor *
          (m[(i + 1) % 3][(j + 1) % 3] * m[(i + 2) % 3][(j + 2) % 3] -
              m[(i + 1) % 3][(j + 2) % 3] * m[(i + 2) % 3][(j + 1) % 3]);
  return result;
}

double CellPoints::surface(std::size_t q, int d) const
{
  const std::array<double, 3> &row = inverse_j[q][d];
  return det[q] * std::sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
}

std::array<std::vector<double>, 4> CellMap::derivatives_and_positions(
    const std::vector<Point> &nodes, const std::array<const LinePoints *, 3> &lines) const
{
  // Of a number of directions, from the last one: positions, and derivatives in these directions. What is the same for several is computed once.
  std::vector<double> positions(3 * nodes.size());
  for (std::size_t d = 0; d < 3; ++d)
    for (std::size_t i = 0; i < nodes.size(); ++i)
      positions[d * nodes.size() + i] = nodes[i][d];
  std::array<std::vector<double>, 3> derivatives;
  std::size_t stride = nodes.size();
  for (int d = dim_ - 1; d >= 0; --d)
  {
    stride /= nodes_;
    const SmallMatrix value = SmallMatrix::by_rows(lines[d]->value, nodes_),
                      derivative = SmallMatrix::by_rows(lines[d]->derivative, nodes_);
    for (int e = d + 1; e < dim_; ++e)
      derivatives[e] = contracted(derivatives[e], value, stride);
    derivatives[d] = contracted(positions, derivative, stride);
    positions = contracted(positions, value, stride);
  }
  return {std::move(derivatives[0]), std::move(derivatives[1]), std::move(derivatives[2]),
      std::move(positions)};
}

CellPoints CellMap::at(const std::vector<Point> &nodes,
    const std::array<const LinePoints *, 3> &lines, std::int64_t block) const
{
  const std::array<std::vector<double>, 4> of_points = derivatives_and_positions(nodes, lines);
  const std::size_t size = of_points[3].size() / 3;
  CellPoints result;
  result.x.resize(size);
  result.det.reserve(size);
  result.inverse_j.reserve(size);
  for (std::size_t q = 0; q < size; ++q)
  {
    for (std::size_t i = 0; i < 3; ++i)
      result.x[q][i] = of_points[3][i * size + q];
    Matrix3 j{}; // j[i][a] = dx_i / dxi_a
    for (int a = 0; a < dim_; ++a)
      for (int i = 0; i < dim_; ++i)
        j[i][a] = of_points[a][static_cast<std::size_t>(i) * size + q];
    if (dim_ == 2)
      j[2][2] = 1.;
    const double det = determinant(j);
    if (!(det > 0.))
      throw MeshError("a cell of block " + std::to_string(block) + " is folded at " +
          point_text(result.x[q], dim_) + ": det J is " + number_text(det));
    result.det.push_back(det);
    result.inverse_j.push_back(inverse(j, det));
  }
  return result;
}

namespace
{
  /// Of the nodes of cell number i of a direction of a block.
  std::vector<double> node_coordinates(const BlockLevel &level, std::int64_t i)
  {
    std::vector<double> result;
    for (const double t : lobatto_nodes(level.mapping_degree))
      result.push_back((static_cast<double>(i) + t) / static_cast<double>(level.per_direction));
    return result;
  }
} // namespace

CellNodes::CellNodes(const BlockGeometry &geometry, const BlockLevel &level)
  : geometry_(geometry)
{
  for (std::int64_t i = 0; i < level.per_direction; ++i)
    matrices_.push_back(geometry.line_matrix(node_coordinates(level, i)));
}

std::vector<Point> CellNodes::of(std::int64_t block, const std::array<std::int64_t, 3> &cell) const
{
  if (row_.block != block || row_.y != cell[1] || row_.z != cell[2])
    row_ = {block, cell[1], cell[2], geometry_.row(block, matrices_[cell[1]], matrices_[cell[2]])};
  return geometry_.points_of_row(row_.points, matrices_[cell[0]]);
}

std::vector<Point> cell_nodes(const BlockGeometry &geometry, const BlockLevel &level,
    std::int64_t block, const std::array<std::int64_t, 3> &cell)
{
  return CellNodes(geometry, level).of(block, cell);
}
} // namespace tensormg
