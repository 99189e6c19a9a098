#include "operators/analysis/cell_shape.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "operators/mesh/sums_over_ranks.h"

namespace tensormg
{
namespace
{
  using Point = std::array<double, 3>;

  double dot(const Point &a, const Point &b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

  Point cross(const Point &a, const Point &b)
  {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  }

  /// In degrees; 0 where one of them vanishes, as where an edge has no length.
  double angle_between(const Point &a, const Point &b)
  {
    const Point normal = cross(a, b);
    return std::atan2(std::sqrt(dot(normal, normal)), dot(a, b)) * 180. / std::numbers::pi;
  }

  /// Of the symmetric matrix of the products of these vectors, by the angle of its characteristic polynomial's roots.
  double largest_eigenvalue(const std::array<Point, 3> &columns)
  {
    std::array<std::array<double, 3>, 3> m{};
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        m[a][b] = dot(columns[a], columns[b]);
    const double mean = (m[0][0] + m[1][1] + m[2][2]) / 3.;
    const std::array<double, 3> d{m[0][0] - mean, m[1][1] - mean, m[2][2] - mean};
    const double x = m[0][1], y = m[0][2], z = m[1][2];
    const double square =
        (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / 6. + (x * x + y * y + z * z) / 3.;
    const double radius = std::sqrt(square);
    if (!(radius > 1e-12 * mean)) // a multiple of the identity, but for rounding
      return mean;
    const double half_determinant = 0.5 *
        (d[0] * (d[1] * d[2] - z * z) - x * (x * d[2] - z * y) + y * (x * z - d[1] * y)) /
        (square * radius);
    return mean + 2. * radius * std::cos(std::acos(std::clamp(half_determinant, -1., 1.)) / 3.);
  }

  /// The product of the largest singular values of J and of its inverse; the one of the inverse is not a difference of large numbers.
  double condition(std::array<Point, 3> j, int dim)
  {
    if (dim == 2) // the third direction has the length of one of the others
      j[2] = {0., 0., std::sqrt(dot(j[0], j[0]))};
    const std::array<Point, 3> cofactors{cross(j[1], j[2]), cross(j[2], j[0]), cross(j[0], j[1])};
    const double det = std::abs(dot(j[0], cofactors[0]));
    if (!(det > 0.))
      return std::numeric_limits<double>::infinity();
    return std::max(1., std::sqrt(largest_eigenvalue(j) * largest_eigenvalue(cofactors)) / det);
  }
} // namespace

CellShapes::CellShapes(const BlockGeometry &geometry, const BlockLevel &level)
  : dim_(geometry.dim())
  , nodes_(geometry, level)
{
  const std::vector<double> line = lobatto_nodes(level.mapping_degree);
  std::vector<Point> points;
  for (unsigned corner = 0; corner < 1U << dim_; ++corner)
    points.push_back({double(corner & 1U), double(corner >> 1U & 1U), double(corner >> 2U)});
  points.push_back({0.5, 0.5, 0.5});
  for (const Point &point : points)
  {
    auto &of_point = derivatives_.emplace_back();
    for (int a = 0; a < dim_; ++a)
    {
      std::vector<double> product{1.};
      for (int d = 0; d < dim_; ++d)
      {
        std::vector<double> next;
        for (const double factor :
            d == a ? lagrange_derivatives(line, {point[d]}) : lagrange_values(line, {point[d]}))
          for (const double number : product)
            next.push_back(factor * number);
        product = std::move(next);
      }
      of_point[a] = std::move(product);
    }
  }
}

std::array<Point, 3> CellShapes::columns(const std::vector<Point> &nodes, std::size_t point) const
{
  std::array<Point, 3> result{};
  for (int a = 0; a < dim_; ++a)
  {
    const std::vector<double> &derivatives = derivatives_[point][a];
    for (std::size_t i = 0; i < nodes.size(); ++i)
      for (int d = 0; d < 3; ++d)
        result[a][d] += derivatives[i] * nodes[i][d];
  }
  return result;
}

CellShape CellShapes::of(const CellPlace &place) const
{
  const std::vector<Point> nodes = nodes_.of(place.block, place.cell);
  CellShape shape;
  for (unsigned point = 0; point < derivatives_.size(); ++point)
  {
    const std::array<Point, 3> j = columns(nodes, point);
    shape.aspect_ratio = std::max(shape.aspect_ratio, condition(j, dim_));
    const bool is_corner = point + 1 < derivatives_.size();
    for (unsigned a = 0; is_corner && a < static_cast<unsigned>(dim_); ++a)
      for (unsigned b = 0; b < a; ++b)
      {
        const bool both_leave = (point >> a & 1U) == (point >> b & 1U); // or both arrive
        const double between = angle_between(j[a], j[b]);
        const double angle = both_leave ? between : 180. - between;
        shape.smallest_angle = std::min(shape.smallest_angle, angle);
        shape.largest_angle = std::max(shape.largest_angle, angle);
      }
  }
  return shape;
}

MeshShape shape_of_mesh(const BlockGeometry &geometry, const BlockLevels::Level &level)
{
  const CellShapes shapes(geometry, level.shape);
  std::array<double, 4> sums{};
  std::array<double, 3> worst{-90., 90., 1.}; // the largest of each
  for_each_cell(geometry, level.shape, [&](const CellPlace &place) {
    const CellShape shape = shapes.of(place);
    const std::array<double, 4> of_cell{
        shape.smallest_angle, shape.largest_angle, shape.aspect_ratio, 1.};
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] += of_cell[i];
    worst = {std::max(worst[0], -shape.smallest_angle), std::max(worst[1], shape.largest_angle),
        std::max(worst[2], shape.aspect_ratio)};
  });
  sum_in_order(sums, level.grid.communicator);
  MPI_Allreduce(MPI_IN_PLACE, worst.data(), 3, MPI_DOUBLE, MPI_MAX, level.grid.communicator);
  return {-worst[0], worst[1], worst[2], sums[0] / sums[3], sums[1] / sums[3], sums[2] / sums[3]};
}
} // namespace tensormg
