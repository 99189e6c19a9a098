#include "operators/cellwise/separation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace tensormg
{
namespace
{
  constexpr double tolerance = 1e-10;

  bool is_first(const LevelGrid &level, int d) { return level.offset[d] == 0; }

  /// What the ranks that have the first cells of the other directions know, on all.
  void share(const LevelGrid &level, double *numbers, std::size_t count)
  {
    MPI_Allreduce(
        MPI_IN_PLACE, numbers, static_cast<int>(count), MPI_DOUBLE, MPI_SUM, level.communicator);
  }

  std::vector<double> factors_along(const LevelGrid &level, const CellData &data, int d)
  {
    std::vector<double> result(static_cast<std::size_t>(level.global_cells[d]), 0.);
    if (is_first(level, (d + 1) % 3) && is_first(level, (d + 2) % 3))
      for (std::int64_t c = 0; c < level.block.cells[d]; ++c)
        result[level.offset[d] + c] = data.k[0](d == 0 ? c : 0, d == 1 ? c : 0, d == 2 ? c : 0);
    share(level, result.data(), result.size());
    const double first = result.front();
    for (double &factor : result)
      factor /= first;
    return result;
  }

  /// Of all cells of this rank.
  bool are_products(const LevelGrid &level, const CellData &data, const Separation &separation)
  {
    const Block &block = level.block;
    const auto agrees = [](double number, double product) {
      return std::abs(number - product) <= tolerance * std::abs(product);
    };
    for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
        {
          const double product = separation.factor[0][level.offset[0] + cx] *
              separation.factor[1][level.offset[1] + cy] *
              separation.factor[2][level.offset[2] + cz];
          for (int d = 0; d < block.dim; ++d)
            if (!agrees(data.of_direction(d)(cx, cy, cz), separation.k[d] * product))
              return false;
          if (!data.reaction.empty() &&
              !agrees(data.reaction(cx, cy, cz), separation.reaction * product))
            return false;
        }
    return true;
  }

  /// The smallest and the largest r h / K of each side, on all ranks; 0 where there are none.
  std::array<std::array<double, 2>, 6> kappas(const LevelGrid &level, const CellData &data)
  {
    std::array<double, 12> ends{}; // - smallest, largest
    for (int side = 0; side < 6; ++side)
    {
      ends[2 * side] = -INFINITY;
      std::size_t face = 0;
      const int d = side / 2;
      if (!data.robin[side].empty())
        for_side_cells(level.block, side, [&](std::int64_t cx, std::int64_t cy, std::int64_t cz) {
          const double h = level.axis[d].size(level.offset[d] + std::array{cx, cy, cz}[d]);
          const double kappa = data.robin[side][face++] * h / data.of_direction(d)(cx, cy, cz);
          ends[2 * side] = std::max(ends[2 * side], -kappa);
          ends[2 * side + 1] = std::max(ends[2 * side + 1], kappa);
        });
    }
    MPI_Allreduce(MPI_IN_PLACE, ends.data(), 12, MPI_DOUBLE, MPI_MAX, level.communicator);
    std::array<std::array<double, 2>, 6> result{};
    for (int side = 0; side < 6; ++side)
      if (std::isfinite(ends[2 * side]))
        result[side] = {-ends[2 * side], ends[2 * side + 1]};
    return result;
  }
} // namespace

std::optional<Separation> separation_of(const LevelGrid &level, const CellData &data)
{
  Separation result;
  for (int d = 0; d < 3; ++d)
    result.factor[d] = factors_along(level, data, d);
  std::array<double, 4> first{};
  if (is_first(level, 0) && is_first(level, 1) && is_first(level, 2))
  {
    for (int d = 0; d < level.block.dim; ++d)
      first[d] = data.of_direction(d)(0, 0, 0);
    if (!data.reaction.empty())
      first[3] = data.reaction(0, 0, 0);
  }
  share(level, first.data(), first.size());
  result.k = {first[0], first[1], first[2]};
  result.reaction = first[3];
  int separates = are_products(level, data, result) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &separates, 1, MPI_INT, MPI_MIN, level.communicator);
  const auto of_sides = kappas(level, data);
  for (int side = 0; side < 6; ++side)
  {
    const auto [least, most] = of_sides[side];
    if (most - least > tolerance * most)
      separates = 0;
    result.kappa[side] = most;
  }
  return separates != 0 ? std::optional(result) : std::nullopt;
}

double condition_number(
    const LevelGrid &level, const Separation &separation, const Problem &problem)
{
  const double n = level.block.n;
  double largest = 0., least = INFINITY, held = 0.;
  for (int d = 0; d < level.block.dim; ++d)
  {
    const std::vector<double> &f = separation.factor[d];
    const auto cells = static_cast<std::int64_t>(f.size());
    // Of -(f u')' = lambda f u: the largest is that of the smallest cell; the smallest with a fixed end, or the next to smallest between
    // free ones, is (pi / (2 length))^2 or more for one f, and by Muckenhoupt's inequality never far from this.
    double steepest = 0., weight = 0., resistance = 0.;
    for (std::int64_t c = 0; c < cells; ++c)
    {
      const double h = level.axis[d].size(c);
      const double largest_f =
          std::max({f[c], f[std::max<std::int64_t>(c, 1) - 1], f[std::min(c + 1, cells - 1)]});
      steepest = std::max(steepest, separation.k[d] * largest_f / (f[c] * h * h));
      weight += f[c] * h;
      resistance += h / (f[c] * separation.k[d]);
    }
    const double smallest = 2.5 / (weight * resistance);
    largest = std::max(largest, n * n * n * n * steepest);
    least = std::min(least, smallest);
    for (int end = 2 * d; end < 2 * d + 2; ++end)
      if (problem.boundary[end] == BoundaryKind::dirichlet || separation.kappa[end] > 0.)
        held = std::max(held, smallest);
  }
  return largest / (held > 0. ? held : least);
}
} // namespace tensormg
