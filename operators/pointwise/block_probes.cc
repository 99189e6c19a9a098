#include "operators/pointwise/block_probes.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "operators/mesh/sums_over_ranks.h"
#include "operators/pointwise/cell_quadrature.h"

namespace tensormg
{
namespace
{
  using Point = std::array<double, 3>;
  constexpr double outside = 1e-6; ///< of a cell, that still counts as inside

  /// Whether a point is in the box around the nodes, which curved cells may leave by a part of its size.
  bool may_hold(const std::vector<Point> &nodes, const Point &point, int dim)
  {
    constexpr double margin = 0.25;
    for (int d = 0; d < dim; ++d)
    {
      double lower = INFINITY, upper = -INFINITY;
      for (const Point &node : nodes)
      {
        lower = std::min(lower, node[d]);
        upper = std::max(upper, node[d]);
      }
      const double more = margin * (upper - lower);
      if (!(point[d] >= lower - more && point[d] <= upper + more))
        return false;
    }
    return true;
  }

  /// The reference coordinates of the nearest node, a little inside.
  Point start(
      const std::vector<Point> &nodes, const std::vector<double> &line, const Point &point, int dim)
  {
    std::size_t nearest = 0;
    double least = INFINITY;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (const double distance =
              std::hypot(nodes[i][0] - point[0], nodes[i][1] - point[1], nodes[i][2] - point[2]);
          distance < least)
      {
        least = distance;
        nearest = i;
      }
    Point xi{0.5, 0.5, 0.5};
    for (int d = 0; d < dim; ++d, nearest /= line.size())
      xi[d] = std::clamp(line[nearest % line.size()], 0.05, 0.95);
    return xi;
  }

  /// Newton's method from there; nothing if it leaves the cell's surroundings.
  std::optional<Point> reference_of(const CellMap &map, int mapping_degree,
      const std::vector<Point> &nodes, const Point &point, int dim)
  {
    constexpr int most_steps = 20;
    const std::vector<double> line = lobatto_nodes(mapping_degree);
    Point xi = start(nodes, line, point, dim);
    for (int step = 0; step < most_steps; ++step)
    {
      const LinePoints x(line, {xi[0]}), y(line, {xi[1]}), z(line, {xi[2]});
      CellPoints here;
      try
      {
        here = map.at(nodes, {&x, &y, &z}, 0);
      }
      catch (const MeshError &) // folded outside of the cell
      {
        return std::nullopt;
      }
      double change = 0.;
      for (int a = 0; a < dim; ++a)
      {
        double by = 0.;
        for (int i = 0; i < dim; ++i)
          by += here.inverse_j[0][a][i] * (point[i] - here.x[0][i]);
        const double before = xi[a];
        xi[a] = std::clamp(before + by, -0.25, 1.25);
        change = std::max(change, std::abs(xi[a] - before));
      }
      if (change > 1e-12)
        continue;
      for (int a = 0; a < dim; ++a)
        if (xi[a] < -outside || xi[a] > 1. + outside)
          return std::nullopt;
      return xi;
    }
    return std::nullopt;
  }

  /// sum over the modes of products of a value, or in one direction a derivative, of each direction.
  double combined(const std::vector<double> &modes, const std::array<LineRule, 3> &rules, int dim,
      int derivative)
  {
    std::vector<double> now = modes;
    for (int d = 0; d < dim; ++d)
    {
      const std::vector<double> &table = d == derivative ? rules[d].derivatives : rules[d].values;
      std::vector<double> next(now.size() / table.size(), 0.);
      for (std::size_t i = 0; i < now.size(); ++i)
        next[i / table.size()] += table[i % table.size()] * now[i];
      now = std::move(next);
    }
    return now.front();
  }
} // namespace

std::vector<std::vector<PointInCell>> find_points(
    const BlockProblem &problem, const BlockLevel &level, const std::vector<Point> &points)
{
  std::vector<std::vector<PointInCell>> result(points.size());
  if (points.empty())
    return result;
  const int dim = problem.blocks.dim;
  const CellNodes cell_nodes(problem.geometry, level);
  const CellMap map(dim, level.mapping_degree);
  for_each_cell(problem.geometry, level, [&](const CellPlace &place) {
    const std::vector<Point> nodes = cell_nodes.of(place.block, place.cell);
    for (std::size_t p = 0; p < points.size(); ++p)
      if (may_hold(nodes, points[p], dim))
        if (const auto xi = reference_of(map, level.mapping_degree, nodes, points[p], dim))
          result[p].push_back({place, *xi});
  });
  return result;
}

std::vector<bool> are_inside(const BlockProblem &problem, const BlockLevels &levels,
    const std::vector<std::array<double, 3>> &points)
{
  std::vector<double> counts;
  for (const auto &cells : find_points(problem, levels.levels().back().shape, points))
    counts.push_back(static_cast<double>(cells.size()));
  if (!counts.empty())
    sum_in_order(counts, levels.communicator());
  std::vector<bool> result;
  for (const double count : counts)
    result.push_back(count > 0.);
  return result;
}

std::vector<PointValue> values_at(const BlockProblem &problem, const BlockLevels &levels,
    const Vector<double> &u, const std::vector<Point> &points)
{
  const int dim = problem.blocks.dim;
  const BlockLevel &level = levels.levels().back().shape;
  const auto cells = find_points(problem, level, points);
  const CellNodes cell_nodes(problem.geometry, level);
  const CellMap map(dim, level.mapping_degree);
  const std::vector<double> line = lobatto_nodes(level.mapping_degree);
  constexpr std::size_t count = 5;
  std::vector<double> sums(count * points.size(), 0.); // of values, gradients, and cells
  for (std::size_t p = 0; p < points.size(); ++p)
    for (const PointInCell &in : cells[p])
    {
      double *const of_point = &sums[count * p];
      const auto &[x, y, z] = in.reference;
      const std::array<LineRule, 3> rules{point_rule(levels.basis(), std::array{x}),
          point_rule(levels.basis(), std::array{y}), point_rule(levels.basis(), std::array{z})};
      const LinePoints at_x(line, {x}), at_y(line, {y}), at_z(line, {z});
      const CellPoints here = map.at(
          cell_nodes.of(in.place.block, in.place.cell), {&at_x, &at_y, &at_z}, in.place.block);
      const std::vector<double> modes = modes_of_cell(u, level, in.place);
      of_point[0] += combined(modes, rules, dim, -1);
      for (int a = 0; a < dim; ++a)
      {
        const double derivative = combined(modes, rules, dim, a);
        for (int i = 0; i < dim; ++i)
          of_point[1 + i] += here.inverse_j[0][a][i] * derivative;
      }
      of_point[4] += 1.;
    }
  if (!sums.empty())
    sum_in_order(sums, levels.communicator());
  std::vector<PointValue> result;
  for (std::size_t p = 0; p < points.size(); ++p)
  {
    const double *const of_point = &sums[count * p];
    PointValue &value = result.emplace_back();
    value.point = points[p];
    value.value = of_point[0] / of_point[4]; // not a number outside of the mesh
    for (int i = 0; i < (of_point[4] > 0. ? dim : 3); ++i)
      value.gradient[i] = of_point[1 + i] / of_point[4];
  }
  return result;
}
} // namespace tensormg
