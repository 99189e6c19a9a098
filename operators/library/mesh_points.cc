#include "operators/library/mesh_points.h"

#include <cmath>

namespace tensormg
{
MeshPoints::MeshPoints(
    const BlockProblem &problem, const BlockLevel &level, const std::vector<double> &line)
  : problem_(problem)
  , level_(level)
  , n_(std::ssize(line))
  , nodes_(problem.geometry, level)
  , inside_(lagrange_values(lobatto_nodes(level.mapping_degree), line))
  , ends_{lagrange_values(lobatto_nodes(level.mapping_degree), {0.}),
        lagrange_values(lobatto_nodes(level.mapping_degree), {1.})}
{}

std::int64_t MeshPoints::n_cells() const
{
  const std::int64_t n = level_.per_direction;
  return (level_.end(problem_.geometry) - level_.first) * n * n * (dim() == 3 ? n : 1);
}

std::vector<MeshPoints::Point> MeshPoints::of(const CellPlace &place, int side) const
{
  std::vector<Point> points = nodes_.of(place.block, place.cell);
  const auto count = static_cast<std::size_t>(level_.mapping_degree) + 1;
  std::size_t stride = 1;
  for (int d = 0; d < dim(); ++d)
  {
    const std::vector<double> &matrix = side / 2 == d && side >= 0 ? ends_[side % 2] : inside_;
    points = contracted(points, matrix, stride, count);
    stride *= matrix.size() / count;
  }
  return points;
}

MeshPoints::Point MeshPoints::middle(const CellPlace &place) const
{
  return middle_of_corners(nodes_.of(place.block, place.cell), dim());
}

void write_points(const std::vector<MeshPoints::Point> &points, const MeshPoints::Coordinates &to,
    std::size_t &at)
{
  for (const MeshPoints::Point &point : points)
  {
    for (std::size_t d = 0; d < 3; ++d)
      if (!to[d].empty())
        to[d][at] = point[d];
    ++at;
  }
}
} // namespace tensormg
