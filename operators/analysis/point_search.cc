#include "operators/analysis/point_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <deal.II/lac/full_matrix.h>

namespace tensormg
{
namespace
{
  using Point = std::array<double, 3>;
  constexpr double outside = 1e-6; ///< of a cell, that still counts as inside

  /// What makes Bernstein's coefficients of the values at the nodes.
  std::vector<double> bernstein_matrix(const std::vector<double> &nodes)
  {
    const auto n = static_cast<unsigned>(nodes.size());
    dealii::FullMatrix<double> values(n, n);
    for (unsigned q = 0; q < n; ++q)
    {
      double binomial = 1.;
      for (unsigned i = 0; i < n; ++i)
      {
        values(q, i) = binomial * std::pow(nodes[q], i) * std::pow(1. - nodes[q], n - 1 - i);
        binomial *= static_cast<double>(n - 1 - i) / (i + 1);
      }
    }
    values.gauss_jordan();
    std::vector<double> result;
    for (unsigned i = 0; i < n; ++i)
      for (unsigned q = 0; q < n; ++q)
        result.push_back(values(i, q));
    return result;
  }

  std::vector<Point> in_all_directions(
      std::vector<Point> points, const std::vector<double> &matrix, std::size_t count, int dim)
  {
    std::size_t stride = 1;
    for (int d = 0; d < dim; ++d, stride *= count)
      points = contracted(points, matrix, stride, count);
    return points;
  }

  Point product(const Matrix3 &m, const Point &x)
  {
    Point result{};
    for (int a = 0; a < 3; ++a)
      for (int i = 0; i < 3; ++i)
        result[a] += m[a][i] * x[i];
    return result;
  }

  Point difference(const Point &a, const Point &b)
  {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  }

  double largest(const Point &x, int dim)
  {
    return std::max({std::abs(x[0]), std::abs(x[1]), dim == 3 ? std::abs(x[2]) : 0.});
  }

  /// Nothing where the columns are dependent, but for rounding.
  std::optional<Matrix3> inverse_of(const Matrix3 &j)
  {
    double lengths = 1.;
    for (int a = 0; a < 3; ++a)
      lengths *= std::hypot(j[0][a], j[1][a], j[2][a]);
    const double det = determinant(j);
    if (!(std::abs(det) > 1e-12 * lengths))
      return std::nullopt;
    return inverse(j, det);
  }

  struct Extent
  {
    Point lower{INFINITY, INFINITY, INFINITY}, upper{-INFINITY, -INFINITY, -INFINITY};
  };
  Extent extent_of(const std::vector<Point> &points)
  {
    Extent extent;
    for (const Point &x : points)
      for (int d = 0; d < 3; ++d)
      {
        extent.lower[d] = std::min(extent.lower[d], x[d]);
        extent.upper[d] = std::max(extent.upper[d], x[d]);
      }
    return extent;
  }

  /// In which direction points are farthest apart.
  int longest_direction(const std::vector<Point> &points)
  {
    const Extent extent = extent_of(points);
    const Point size = difference(extent.upper, extent.lower);
    return static_cast<int>(std::max_element(size.begin(), size.end()) - size.begin());
  }
} // namespace

PointSearch::PointSearch(int dim, int mapping_degree)
  : dim_(dim)
  , line_(lobatto_nodes(mapping_degree))
  , bernstein_(bernstein_matrix(line_))
{
  for (std::size_t end = 0; end < 2; ++end)
  {
    std::vector<double> points;
    for (const double t : line_)
      points.push_back(0.5 * (t + static_cast<double>(end)));
    halves_[end] = lagrange_values(line_, points);
  }
}

std::vector<Point> PointSearch::coefficients(const std::vector<Point> &nodes) const
{
  return in_all_directions(nodes, bernstein_, line_.size(), dim_);
}

PointSearch::Place PointSearch::place(const std::vector<Point> &nodes, const Point &reference) const
{
  Place result;
  std::vector<LinePoints> lines;
  for (int d = 0; d < dim_; ++d)
    lines.emplace_back(line_, std::vector<double>{reference[static_cast<std::size_t>(d)]});
  for (int e = 0; e <= dim_; ++e)
  {
    std::vector<Point> now = nodes;
    for (int d = 0; d < dim_; ++d)
      now = contracted(now, d == e ? lines[d].derivative : lines[d].value, 1, line_.size());
    if (e == dim_)
      result.x = now.front();
    else
      for (int i = 0; i < 3; ++i)
        result.j[i][e] = now.front()[i];
  }
  if (dim_ == 2)
    result.j[2][2] = 1.;
  return result;
}

bool PointSearch::may_hold(const Part &part, const Point &point) const
{
  constexpr double margin = 10. * outside;
  const auto axes = inverse_of(place(part.nodes, {0.5, 0.5, 0.5}).j);
  std::vector<Point> corners = coefficients(part.nodes);
  for (Point &x : corners)
  {
    x = difference(x, point);
    if (axes)
      x = product(*axes, x);
  }
  const Extent extent = extent_of(corners);
  for (int d = 0; d < dim_; ++d)
  {
    const double more = margin * (extent.upper[d] - extent.lower[d]) / part.size;
    if (!(extent.lower[d] <= more && extent.upper[d] >= -more))
      return false;
  }
  return true;
}

Point PointSearch::nearest_node(const std::vector<Point> &nodes, const Point &point) const
{
  const auto distance = [&](const Point &x) {
    const Point to = difference(x, point);
    return to[0] * to[0] + to[1] * to[1] + to[2] * to[2];
  };
  auto nearest = static_cast<std::size_t>(
      std::min_element(nodes.begin(), nodes.end(),
          [&](const Point &a, const Point &b) { return distance(a) < distance(b); }) -
      nodes.begin());
  Point reference{0.5, 0.5, 0.5};
  for (int d = 0; d < dim_; ++d, nearest /= line_.size())
    reference[d] = std::clamp(line_[nearest % line_.size()], 0.05, 0.95);
  return reference;
}

std::optional<Point> PointSearch::newton(
    const std::vector<Point> &nodes, const Point &point, Point reference) const
{
  constexpr int most_steps = 30;
  constexpr double least_part = 1. / 64., converged = 1e-12, far = 0.25;
  Place here = place(nodes, reference);
  for (int step = 0; step < most_steps; ++step)
  {
    const auto inverse_j = inverse_of(here.j);
    if (!inverse_j)
      return std::nullopt;
    const Point change = product(*inverse_j, difference(point, here.x));
    const double size = largest(change, dim_);
    bool is_nearer = false;
    for (double part = 1.; size > converged && !is_nearer && part >= least_part; part *= 0.5)
    {
      Point next = reference;
      for (int a = 0; a < dim_; ++a)
        next[a] = std::clamp(reference[a] + part * change[a], -far, 1. + far);
      const Place there = place(nodes, next);
      is_nearer = largest(product(*inverse_j, difference(point, there.x)), dim_) < size;
      if (is_nearer)
      {
        reference = next;
        here = there;
      }
    }
    if (is_nearer)
      continue;
    for (int a = 0; a < dim_; ++a)
      if (!(reference[a] >= -outside && reference[a] <= 1. + outside))
        return std::nullopt;
    if (size <= 0.1 * outside) // the rest is rounding
      return reference;
    return std::nullopt;
  }
  return std::nullopt;
}

PointSearch::Part PointSearch::half(const Part &part, unsigned child) const
{
  Part result{part.nodes, part.lower, 0.5 * part.size};
  std::size_t stride = 1;
  for (int d = 0; d < dim_; ++d, stride *= line_.size())
  {
    const unsigned end = child >> static_cast<unsigned>(d) & 1U;
    result.nodes = contracted(result.nodes, halves_[end], stride, line_.size());
    result.lower[d] += end * result.size;
  }
  return result;
}

std::optional<Point> PointSearch::search(const std::vector<Point> &nodes, const Part &part,
    const Point &point, const std::optional<Point> &start) const
{
  constexpr double least_size = 1. / 16.;
  if (!may_hold(part, point))
    return std::nullopt;
  Point middle = part.lower;
  for (double &coordinate : middle)
    coordinate += 0.5 * part.size;
  auto found = newton(nodes, point, start.value_or(middle));
  for (unsigned child = 0; !found && part.size > least_size && child < 1U << dim_; ++child)
    found = search(nodes, half(part, child), point, std::nullopt);
  return found;
}

std::optional<Point> PointSearch::in_cell(const std::vector<Point> &nodes, const Point &point) const
{
  return search(nodes, {nodes}, point, nearest_node(nodes, point));
}

std::vector<std::vector<PointInCell>> find_points(
    const BlockGeometry &geometry, const BlockLevel &level, const std::vector<Point> &points)
{
  std::vector<std::vector<PointInCell>> result(points.size());
  if (points.empty())
    return result;
  const int dim = geometry.dim(), along = longest_direction(points);
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return points[a][along] < points[b][along]; });
  const CellNodes cell_nodes(geometry, level);
  const PointSearch search(dim, level.mapping_degree);
  for_each_cell(geometry, level, [&](const CellPlace &place) {
    const std::vector<Point> nodes = cell_nodes.of(place.block, place.cell);
    Extent extent = extent_of(search.coefficients(nodes));
    const double more = 10. * outside * largest(difference(extent.upper, extent.lower), dim);
    for (int d = 0; d < dim; ++d)
    {
      extent.lower[d] -= more;
      extent.upper[d] += more;
    }
    const auto first = std::lower_bound(order.begin(), order.end(), extent.lower[along],
        [&](std::size_t p, double lower) { return points[p][along] < lower; });
    for (auto p = first; p != order.end() && points[*p][along] <= extent.upper[along]; ++p)
    {
      const Point &point = points[*p];
      bool is_near = true;
      for (int d = 0; d < dim; ++d)
        is_near = is_near && point[d] >= extent.lower[d] && point[d] <= extent.upper[d];
      if (const auto reference = is_near ? search.in_cell(nodes, point) : std::nullopt)
        result[*p].push_back({place, *reference});
    }
  });
  return result;
}
} // namespace tensormg
