#include "operators/analysis/block_probes.h"

#include "operators/analysis/point_search.h"
#include "operators/mesh/sums_over_ranks.h"
#include "operators/pointwise/cell_quadrature.h"

namespace tensormg
{
namespace
{
  using Point = std::array<double, 3>;

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

std::vector<bool> are_inside(const BlockProblem &problem, const BlockLevels &levels,
    const std::vector<std::array<double, 3>> &points)
{
  std::vector<double> counts;
  for (const auto &cells : find_points(problem.geometry, levels.levels().back().shape, points))
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
  const auto cells = find_points(problem.geometry, level, points);
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
