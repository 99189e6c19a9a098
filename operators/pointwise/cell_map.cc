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

void check_fold(std::int64_t block, const Point &x, double det, int dim)
{
  if (!(det > 0.))
    throw MeshError("a cell of block " + std::to_string(block) + " is folded at " +
        point_text(x, dim) + ": det J is " + number_text(det) + "; allowed: det J > 0 everywhere");
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
    check_fold(block, result.x[q], det, dim_);
    result.det.push_back(det);
    result.inverse_j.push_back(inverse(j, det));
  }
  return result;
}

void LaneMap::at(
    const std::vector<Lanes> &nodes, const std::array<const LinePoints *, 3> &lines, Points &result)
{
  positions_ = nodes;
  std::size_t stride = nodes.size() / 3;
  for (int d = dim_ - 1; d >= 0; --d) // as derivatives_and_positions()
  {
    stride /= nodes_;
    const SmallMatrix value = SmallMatrix::by_rows(lines[d]->value, nodes_),
                      derivative = SmallMatrix::by_rows(lines[d]->derivative, nodes_);
    for (int e = d + 1; e < dim_; ++e)
      contract(derivatives_[e], value, stride, scratch_);
    derivatives_[d] = positions_;
    contract(derivatives_[d], derivative, stride, scratch_);
    contract(positions_, value, stride, scratch_);
  }
  const std::size_t size = positions_.size() / 3;
  result.x.resize(size);
  result.det.resize(size);
  result.inverse_j.resize(size);
  for (std::size_t q = 0; q < size; ++q)
  {
    Matrix3Of<Lanes> j{};
    for (std::size_t i = 0; i < 3; ++i)
    {
      result.x[q][i] = positions_[i * size + q];
      for (int a = 0; a < dim_; ++a)
        j[i][a] = derivatives_[a][i * size + q];
    }
    if (dim_ == 2)
      j[2][2] = all_lanes(1.);
    result.det[q] = determinant(j);
    result.inverse_j[q] = inverse(j, result.det[q]);
  }
}

CellNodes::CellNodes(const BlockGeometry &geometry, const BlockLevel &level)
  : geometry_(geometry)
  , degree_(static_cast<std::size_t>(level.mapping_degree))
{
  const std::vector<double> nodes = lobatto_nodes(level.mapping_degree);
  std::vector<double> all;
  for (std::int64_t i = 0; i < level.per_direction; ++i)
  {
    std::vector<double> of_cell;
    for (const double t : nodes)
      of_cell.push_back((static_cast<double>(i) + t) / static_cast<double>(level.per_direction));
    all.insert(all.end(), of_cell.begin(), of_cell.end() - 1);
    matrices_.push_back(geometry.line_matrix(of_cell));
  }
  all.push_back(1.);
  of_row_ = all.size();
  row_matrix_ = geometry.line_matrix(all);
}

std::vector<Point> CellNodes::of(std::int64_t block, const std::array<std::int64_t, 3> &cell) const
{
  if (row_.block != block || row_.y != cell[1] || row_.z != cell[2])
    row_ = {block, cell[1], cell[2],
        geometry_.points(block, {&row_matrix_, &matrices_[cell[1]], &matrices_[cell[2]]})};
  std::vector<Point> result;
  const std::size_t first = static_cast<std::size_t>(cell[0]) * degree_;
  for (std::size_t line = 0; line < row_.points.size(); line += of_row_)
    for (std::size_t node = 0; node <= degree_; ++node)
      result.push_back(row_.points[line + first + node]);
  return result;
}

std::vector<Point> cell_nodes(const BlockGeometry &geometry, const BlockLevel &level,
    std::int64_t block, const std::array<std::int64_t, 3> &cell)
{
  return CellNodes(geometry, level).of(block, cell);
}
} // namespace tensormg
