#include "operators/blocks/block_geometry.h"

#include <utility>

#include <deal.II/base/quadrature_lib.h>

namespace tensormg
{
using Point = BlockGeometry::Point;

std::vector<Point> contracted(const std::vector<Point> &from, const std::vector<double> &matrix,
    std::size_t stride, std::size_t count)
{
  const std::size_t rows = matrix.size() / count, blocks = from.size() / (stride * count);
  std::vector<Point> to(blocks * rows * stride, Point{});
  const std::size_t numbers = 3 * stride; // side by side
  for (std::size_t b = 0; b < blocks; ++b)
    for (std::size_t q = 0; q < rows; ++q)
      for (std::size_t i = 0; i < count; ++i)
      {
        const double factor = matrix[q * count + i];
        const double *in = from[(b * count + i) * stride].data();
        double *out = to[(b * rows + q) * stride].data();
        for (std::size_t s = 0; s < numbers; ++s)
          out[s] += factor * in[s];
      }
  return to;
}

std::vector<double> lobatto_nodes(int degree)
{
  std::vector<double> nodes;
  const dealii::QGaussLobatto<1> rule(static_cast<unsigned>(degree) + 1);
  for (const auto &point : rule.get_points())
    nodes.push_back(point[0]);
  return nodes;
}

std::vector<double> lagrange_values(
    const std::vector<double> &nodes, const std::vector<double> &points)
{
  std::vector<double> matrix;
  for (const double x : points)
    for (std::size_t i = 0; i < nodes.size(); ++i)
    {
      double value = 1.;
      for (std::size_t j = 0; j < nodes.size(); ++j)
        if (j != i)
          value *= (x - nodes[j]) / (nodes[i] - nodes[j]);
      matrix.push_back(value);
    }
  return matrix;
}

std::vector<double> lagrange_derivatives(
    const std::vector<double> &nodes, const std::vector<double> &points)
{
  std::vector<double> matrix;
  for (const double x : points)
    for (std::size_t i = 0; i < nodes.size(); ++i)
    {
      double sum = 0.;
      for (std::size_t k = 0; k < nodes.size(); ++k)
      {
        if (k == i)
          continue;
        double product = 1. / (nodes[i] - nodes[k]);
        for (std::size_t j = 0; j < nodes.size(); ++j)
          if (j != i && j != k)
            product *= (x - nodes[j]) / (nodes[i] - nodes[j]);
        sum += product;
      }
      matrix.push_back(sum);
    }
  return matrix;
}

BlockGeometry::BlockGeometry(const BlockMesh &mesh)
  : dim_(mesh.dim)
  , line_(lobatto_nodes(1))
{
  for (const auto &corners : mesh.corners)
    nodes_.emplace_back(corners.begin(), corners.begin() + (1 << mesh.dim));
}

BlockGeometry::BlockGeometry(int dim, int degree, std::vector<std::vector<Point>> nodes)
  : dim_(dim)
  , line_(lobatto_nodes(degree))
  , nodes_(std::move(nodes))
{}

BlockGeometry BlockGeometry::mapped(int degree, const std::function<Point(const Point &)> &f) const
{
  const std::vector<double> line = lobatto_nodes(degree);
  std::vector<std::vector<Point>> nodes;
  for (std::int64_t block = 0; block < n_blocks(); ++block)
  {
    nodes.push_back(points(block, {line, line, line}));
    for (Point &point : nodes.back())
      point = f(point);
  }
  return {dim_, degree, std::move(nodes)};
}

BlockGeometry BlockGeometry::moved(std::function<void(std::vector<Point> &)> f) const
{
  BlockGeometry result = *this;
  result.move_ = [first = move_, then = std::move(f)](std::vector<Point> &points) {
    if (first)
      first(points);
    then(points);
  };
  return result;
}

BlockGeometry BlockGeometry::reordered(const std::vector<std::int64_t> &order) const
{
  BlockGeometry result = *this;
  for (std::size_t i = 0; i < order.size(); ++i)
    result.nodes_[i] = nodes_[static_cast<std::size_t>(order[i])];
  return result;
}

BlockGeometry BlockGeometry::split() const
{
  std::array<std::vector<double>, 2> halves;
  for (std::size_t end = 0; end < 2; ++end)
  {
    std::vector<double> nodes;
    for (const double t : line_)
      nodes.push_back(0.5 * (t + static_cast<double>(end)));
    halves[end] = line_matrix(nodes);
  }
  BlockGeometry result = *this;
  result.nodes_.clear();
  for (const std::vector<Point> &nodes : nodes_)
    for (unsigned child = 0; child < 1U << dim_; ++child)
    {
      std::vector<Point> part = nodes;
      std::size_t stride = 1;
      for (int d = 0; d < dim_; ++d, stride *= line_.size())
        part = contracted(part, halves[child >> d & 1U], stride, line_.size());
      result.nodes_.push_back(std::move(part));
    }
  return result;
}

std::vector<Point> BlockGeometry::points(
    std::int64_t block, const std::array<const std::vector<double> *, 3> &matrices) const
{
  const std::size_t n = line_.size();
  std::vector<Point> result = nodes_[static_cast<std::size_t>(block)];
  if (dim_ == 3)
    result = contracted(result, *matrices[2], n * n, n);
  result = contracted(contracted(result, *matrices[1], n, n), *matrices[0], 1, n);
  if (move_)
    move_(result);
  return result;
}

std::vector<Point> BlockGeometry::points(
    std::int64_t block, const std::array<std::vector<double>, 3> &coordinates) const
{
  std::array<std::vector<double>, 3> matrices;
  for (int d = 0; d < dim_; ++d)
    matrices[d] = line_matrix(coordinates[d]);
  return points(block, {&matrices[0], &matrices[1], &matrices[2]});
}
} // namespace tensormg
