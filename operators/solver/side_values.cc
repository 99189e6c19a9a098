#include "operators/solver/side_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace tensormg
{
namespace
{
  /// The directions along a side; in 2D the second is z, with one cell and one node.
  std::array<std::size_t, 2> directions_along(int side)
  {
    const int normal = side / 2;
    return {std::size_t(normal == 0 ? 1 : 0), std::size_t(normal == 2 ? 1 : 2)};
  }

  bool is_here(const LevelGrid &level, int side)
  {
    const auto d = static_cast<std::size_t>(side / 2);
    return side % 2 == 0 ? level.offset[d] == 0
                         : level.offset[d] + level.block.cells[d] == level.global_cells[d];
  }

  /// A direction along the side: where its cells and nodes are.
  struct Line
  {
    Axis axis;
    std::int64_t offset = 0, cells = 1;
    std::vector<double> nodes;

    Line(const LevelGrid &level, std::size_t d, const std::vector<double> &nodes_)
      : axis(level.axis[d])
      , offset(level.offset[d])
      , cells(level.block.cells[d])
      , nodes(static_cast<int>(d) < level.block.dim ? nodes_ : std::vector<double>{0.5})
    {}

    /// The cell that has x, and the values there of the polynomials that are one at a node and zero at the others.
    std::int64_t locate(double x, std::vector<double> &weights) const
    {
      const std::size_t n = nodes.size();
      weights.assign(n, 1.);
      if (n == 1)
        return 0;
      const double place = axis.place(x) - static_cast<double>(offset);
      const auto cell =
          std::clamp(static_cast<std::int64_t>(std::floor(place)), std::int64_t(0), cells - 1);
      const double at = place - static_cast<double>(cell);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          if (i != j)
            weights[i] *= (at - nodes[j]) / (nodes[i] - nodes[j]);
      return cell;
    }
  };
} // namespace

std::int64_t side_size(const LevelGrid &level, int side)
{
  if (!is_here(level, side))
    return 0;
  const auto [a, b] = directions_along(side);
  const std::int64_t per_cell =
      level.block.dim == 3 ? level.block.n * level.block.n : level.block.n;
  return level.block.cells[a] * level.block.cells[b] * per_cell;
}

void side_coordinates(
    const LevelGrid &level, int side, const std::vector<double> &nodes, int d, std::span<double> to)
{
  if (!is_here(level, side))
    return;
  const auto [a, b] = directions_along(side);
  const Line first(level, a, nodes), second(level, b, nodes);
  const auto normal = static_cast<std::size_t>(side / 2), direction = static_cast<std::size_t>(d);
  const double at_side = side % 2 == 0 ? level.axis[normal].lower() : level.axis[normal].upper();
  const auto coordinate = [](const Line &line, std::int64_t cell, double node) {
    return line.axis.coordinate(line.offset + cell, node);
  };
  std::size_t at = 0;
  for (std::int64_t cb = 0; cb < second.cells; ++cb)
    for (std::int64_t ca = 0; ca < first.cells; ++ca)
      for (const double node_b : second.nodes)
        for (const double node_a : first.nodes)
          to[at++] = direction == normal ? at_side
              : direction == a           ? coordinate(first, ca, node_a)
              : level.block.dim == 3     ? coordinate(second, cb, node_b)
                                         : 0.;
}

Function side_function(const LevelGrid &level, int side, const std::vector<double> &nodes,
    std::span<const double> values)
{
  const auto [a, b] = directions_along(side);
  return [first = Line(level, a, nodes), second = Line(level, b, nodes), a_direction = a,
             b_direction = b, kept = std::vector<double>(values.begin(), values.end())](
             std::size_t n, const double *x, const double *y, const double *z, double *result) {
    const std::array<const double *, 3> points{x, y, z};
    std::vector<double> of_first, of_second;
    for (std::size_t q = 0; q < n; ++q)
    {
      const std::int64_t ca = first.locate(points[a_direction][q], of_first);
      const std::int64_t cb = second.locate(points[b_direction][q], of_second);
      const double *at = kept.data() +
          static_cast<std::size_t>(cb * first.cells + ca) * of_first.size() * of_second.size();
      double sum = 0.;
      for (const double weight_b : of_second)
        for (const double weight_a : of_first)
          sum += weight_b * weight_a * *at++;
      result[q] = sum;
    }
  };
}
} // namespace tensormg
