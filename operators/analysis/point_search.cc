#include "operators/analysis/point_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

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

  Extent extent_of(const std::vector<Point> &points)
  {
    Extent extent;
    for (const Point &x : points)
      extent.add(x);
    return extent;
  }

  /// In which direction points are farthest apart.
  int longest_direction(const std::vector<Point> &points)
  {
    const Extent extent = extent_of(points);
    const Point size = difference(extent.upper, extent.lower);
    return static_cast<int>(std::max_element(size.begin(), size.end()) - size.begin());
  }

  constexpr std::size_t most_nodes = 32;
  using OfNodes = std::array<double, most_nodes>;

  /// Lagrange's polynomials of the nodes at t, and their derivatives.
  void evaluate(const std::vector<double> &nodes, const std::vector<double> &factors, double t,
      OfNodes &values, OfNodes &derivatives)
  {
    const std::size_t n = nodes.size();
    double product = 1., derivative = 0.; // of the factors t - x_j of the nodes that were
    for (std::size_t i = 0; i < n; ++i)
    {
      values[i] = product;
      derivatives[i] = derivative;
      derivative = derivative * (t - nodes[i]) + product;
      product *= t - nodes[i];
    }
    product = 1.;
    derivative = 0.;
    for (std::size_t i = n; i-- > 0;)
    {
      derivatives[i] = factors[i] * (derivatives[i] * product + values[i] * derivative);
      values[i] *= factors[i] * product;
      derivative = derivative * (t - nodes[i]) + product;
      product *= t - nodes[i];
    }
  }

  void add(double factor, const Point &x, Point &sum)
  {
    for (std::size_t i = 0; i < 3; ++i)
      sum[i] += factor * x[i];
  }
} // namespace

void Extent::add(const Point &x)
{
  for (std::size_t d = 0; d < 3; ++d)
  {
    lower[d] = std::min(lower[d], x[d]);
    upper[d] = std::max(upper[d], x[d]);
  }
}

bool Extent::meets(const Extent &other, int dim) const
{
  for (int d = 0; d < dim; ++d)
    if (!(lower[d] <= other.upper[d] && upper[d] >= other.lower[d]))
      return false;
  return true;
}

PointSearch::PointSearch(int dim, int mapping_degree)
  : dim_(dim)
  , line_(lobatto_nodes(mapping_degree))
  , bernstein_(bernstein_matrix(line_))
{
  if (line_.size() > most_nodes)
    throw std::invalid_argument("cells of degree " + std::to_string(mapping_degree));
  for (const double x : line_)
  {
    double product = 1.;
    for (const double other : line_)
      product *= other == x ? 1. : x - other;
    factors_.push_back(1. / product);
  }
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
  const std::size_t n = line_.size(), layers = dim_ == 3 ? n : 1;
  std::array<OfNodes, 3> values, derivatives;
  values[2][0] = 1.; // in 2D
  derivatives[2][0] = 0.;
  for (std::size_t d = 0; d < static_cast<std::size_t>(dim_); ++d)
    evaluate(line_, factors_, reference[d], values[d], derivatives[d]);
  Place result;
  std::array<Point, 3> columns{}; // of J
  const Point *node = nodes.data();
  for (std::size_t z = 0; z < layers; ++z)
    for (std::size_t y = 0; y < n; ++y)
    {
      Point value{}, derivative{};
      for (std::size_t x = 0; x < n; ++x, ++node)
      {
        add(values[0][x], *node, value);
        add(derivatives[0][x], *node, derivative);
      }
      add(values[1][y] * values[2][z], value, result.x);
      add(values[1][y] * values[2][z], derivative, columns[0]);
      add(derivatives[1][y] * values[2][z], value, columns[1]);
      add(values[1][y] * derivatives[2][z], value, columns[2]);
    }
  for (std::size_t a = 0; a < static_cast<std::size_t>(dim_); ++a)
    for (std::size_t k = 0; k < 3; ++k)
      result.j[k][a] = columns[a][k];
  if (dim_ == 2)
    result.j[2][2] = 1.;
  return result;
}

PointSearch::Part PointSearch::make_part(
    std::vector<Point> nodes, const Point &lower, double size) const
{
  Part part{std::move(nodes), lower, size, {}, {}, {}};
  part.axes = inverse_of(place(part.nodes, {0.5, 0.5, 0.5}).j);
  for (const Point &x : coefficients(part.nodes))
  {
    const Point from_node = difference(x, part.nodes.front());
    part.box.add(part.axes ? product(*part.axes, from_node) : from_node);
  }
  return part;
}

bool PointSearch::may_hold(const Part &part, const Point &point) const
{
  constexpr double margin = 10. * outside;
  Point x = difference(point, part.nodes.front());
  if (part.axes)
    x = product(*part.axes, x);
  for (int d = 0; d < dim_; ++d)
  {
    const double more = margin * (part.box.upper[d] - part.box.lower[d]) / part.size;
    if (!(part.box.lower[d] <= x[d] + more && part.box.upper[d] >= x[d] - more))
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
  std::vector<Point> nodes = part.nodes;
  Point lower = part.lower;
  std::size_t stride = 1;
  for (int d = 0; d < dim_; ++d, stride *= line_.size())
  {
    const unsigned end = child >> static_cast<unsigned>(d) & 1U;
    nodes = contracted(nodes, halves_[end], stride, line_.size());
    lower[d] += 0.5 * end * part.size;
  }
  return make_part(std::move(nodes), lower, 0.5 * part.size);
}

std::optional<Point> PointSearch::search(const std::vector<Point> &nodes, Part &part,
    const Point &point, const std::optional<Point> &start) const
{
  constexpr double least_size = 1. / 16.;
  if (!may_hold(part, point))
    return std::nullopt;
  Point middle = part.lower;
  for (double &coordinate : middle)
    coordinate += 0.5 * part.size;
  auto found = newton(nodes, point, start.value_or(middle));
  if (found || part.size <= least_size)
    return found;
  for (unsigned child = 0; part.halves.size() < std::size_t{1} << dim_; ++child)
    part.halves.push_back(half(part, child));
  for (auto child = part.halves.begin(); !found && child != part.halves.end(); ++child)
    found = search(nodes, *child, point, std::nullopt);
  return found;
}

std::optional<Point> PointSearch::in_cell(Part &cell, const Point &point) const
{
  if (!may_hold(cell, point)) // most points, and the nearest node takes time
    return std::nullopt;
  return search(cell.nodes, cell, point, nearest_node(cell.nodes, point));
}

namespace
{
  /// Points that are sorted along one direction, in groups, whose boxes are small where points are those of a line.
  class SortedPoints
  {
  public:
    explicit SortedPoints(const std::vector<Point> &points)
      : points_(points)
      , order_(points.size())
      , along_(longest_direction(points))
    {
      std::iota(order_.begin(), order_.end(), 0);
      std::sort(order_.begin(), order_.end(),
          [&](std::size_t a, std::size_t b) { return points[a][along_] < points[b][along_]; });
      for (std::size_t at = 0; at < order_.size(); ++at)
      {
        if (at % of_group == 0)
          groups_.emplace_back();
        groups_.back().add(points[order_[at]]);
      }
    }

    /// Calls use(p) for each point p within the box.
    template <typename Use>
    void within(const Extent &box, int dim, const Use &use) const
    {
      auto group = std::lower_bound(groups_.begin(), groups_.end(), box.lower[along_],
          [&](const Extent &of_group, double lower) { return of_group.upper[along_] < lower; });
      for (; group != groups_.end() && group->lower[along_] <= box.upper[along_]; ++group)
      {
        if (!group->meets(box, dim))
          continue;
        const auto first = static_cast<std::size_t>(group - groups_.begin()) * of_group;
        for (std::size_t at = first; at < std::min(first + of_group, order_.size()); ++at)
        {
          Extent of_point;
          of_point.add(points_[order_[at]]);
          if (of_point.meets(box, dim))
            use(order_[at]);
        }
      }
    }

  private:
    static constexpr std::size_t of_group = 64;
    const std::vector<Point> &points_;
    std::vector<std::size_t> order_;
    int along_;
    std::vector<Extent> groups_;
  };
} // namespace

std::vector<std::vector<PointInCell>> find_points(
    const BlockGeometry &geometry, const BlockLevel &level, const std::vector<Point> &points)
{
  std::vector<std::vector<PointInCell>> result(points.size());
  if (points.empty())
    return result;
  const int dim = geometry.dim();
  const SortedPoints sorted(points);
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
    std::optional<PointSearch::Part> cell;
    sorted.within(extent, dim, [&](std::size_t p) {
      if (!cell)
        cell = search.cell(nodes);
      if (const auto reference = search.in_cell(*cell, points[p]))
        result[p].push_back({place, *reference});
    });
  });
  return result;
}
} // namespace tensormg
