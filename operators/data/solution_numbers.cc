#include "operators/data/solution_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include <mpi.h>

#include "operators/data/functions.h"
#include "operators/data/tensor_rule.h"
#include "operators/mesh/sums_over_ranks.h"

namespace tensormg
{
namespace
{
  /// Calls use(weight, number of the point) for all points of a rule in so many cells.
  template <typename Use>
  void for_each_weighted(const TensorRule &rule, std::int64_t count, const Use &use)
  {
    std::size_t q = 0;
    for (const double wz : rule[2].weights)
      for (const double wy : rule[1].weights)
        for (const double wx : rule[0].weights)
          for (std::int64_t c = 0; c < count; ++c, ++q)
            use(wx * wy * wz, q);
  }

  struct Sums
  {
    double value = 0.;
    double square = 0.; ///< of unit times the value
    double lowest = std::numeric_limits<double>::infinity();
    double highest = -std::numeric_limits<double>::infinity();
  };

  /// Over all cells, in units of a mean one. On all ranks.
  Sums sums_of(const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u, double unit)
  {
    const TensorRule rule = tensor_rule(grid.block, gauss_rule(basis, basis.n));
    const CellFactor volume = volume_factor(grid);
    TileEvaluator evaluator;
    std::vector<double> values, weights;
    Sums sums;
    for_each_tile(all_cells(grid.block), rule, [&](const Tile &tile) {
      evaluator.evaluate(u, rule, tile, -1, values);
      weights.assign(values.size(), 1.);
      multiply_cells(tile, volume, weights);
      double value = 0., square = 0.; // summed per tile: less rounding than one long sum
      for_each_weighted(rule, tile.count, [&](double of_point, std::size_t q) {
        const double here = values[q], weight = of_point * weights[q];
        value += weight * here;
        square += weight * (unit * here) * (unit * here);
        sums.lowest = std::min(sums.lowest, here);
        sums.highest = std::max(sums.highest, here);
      });
      sums.value += value;
      sums.square += square;
    });
    std::array<double, 2> added{sums.value, sums.square}, extremes{-sums.lowest, sums.highest};
    sum_in_order(added, grid.communicator);
    MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_DOUBLE, MPI_MAX, grid.communicator);
    return {added[0], added[1], -extremes[0], extremes[1]};
  }

  /// The square root of the sum of squares, which may leave the range of double precision: then in another unit.
  double root_of_squares(
      const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u, const Sums &sums)
  {
    constexpr double least = 0x1p-700, most = 0x1p1000;
    const double largest = std::max(std::abs(sums.lowest), std::abs(sums.highest));
    if ((sums.square > least && sums.square < most) || largest == 0. || !std::isfinite(largest))
      return std::sqrt(sums.square);
    const double unit = std::ldexp(1., std::clamp(-std::ilogb(largest), -1000, 1000));
    return std::sqrt(sums_of(grid, basis, u, unit).square) / unit;
  }

  /// Whether side s of the box is one of this rank's block.
  bool has_side(const LevelGrid &grid, int side)
  {
    const int d = side / 2;
    return side % 2 == 0 ? grid.offset[d] == 0
                         : grid.offset[d] + grid.block.cells[d] == grid.global_cells[d];
  }

  TensorRule side_rule(const LevelGrid &grid, const CellBasis &basis, int side)
  {
    // As in the right-hand side.
    TensorRule rule = tensor_rule(grid.block, gauss_rule(basis, basis.n + 1));
    rule[side / 2] = end_rule(basis, side % 2, basis.v); // its projection is not needed
    return rule;
  }

  /// The sum over the side's cells and points of K (du/dn - 2 sigma (u - g)), in units of a mean cell, K being that of the cells if they
  /// have one each, otherwise 1. Of this rank.
  double dirichlet_flux(const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u,
      int side, const ScalarFunction &g)
  {
    const TensorRule rule = side_rule(grid, basis, side);
    const double outwards = side % 2 == 0 ? -1. : 1.;
    const int d = side / 2;
    CellFactor factor = product(area_factor(grid, d), inverse_size_factor(grid, d));
    if (grid.cells != nullptr)
      factor = product(std::move(factor),
          [&k = grid.cells->of_direction(d)](auto... cell) { return k(cell...); });
    TileEvaluator evaluator;
    TilePoints points;
    std::vector<double> of_u, of_g, derivative;
    double sum = 0.;
    for_each_tile(side_cells(grid.block, side), rule, [&](const Tile &tile) {
      evaluator.evaluate(u, rule, tile, -1, of_u);
      evaluator.evaluate(u, rule, tile, d, derivative);
      points.set(grid, rule, tile);
      points.evaluate(g, of_g);
      for (std::size_t q = 0; q < of_u.size(); ++q)
        derivative[q] = outwards * derivative[q] - 2. * basis.penalty * (of_u[q] - of_g[q]);
      multiply_cells(tile, factor, derivative);
      double part = 0.;
      for_each_weighted(
          rule, tile.count, [&](double weight, std::size_t q) { part += weight * derivative[q]; });
      sum += part;
    });
    return sum;
  }

  /// The sum over the side's cells and points of r u, in units of a cell, of this rank.
  double robin_flux(
      const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u, int side)
  {
    const TensorRule rule = side_rule(grid, basis, side);
    TileEvaluator evaluator;
    std::vector<double> values;
    const double *r = grid.cells->robin[side].data();
    const CellFactor area = area_factor(grid, side / 2);
    double sum = 0.;
    for_each_tile(side_cells(grid.block, side), rule, [&](const Tile &tile) {
      evaluator.evaluate(u, rule, tile, -1, values);
      for (std::size_t q = 0; q < values.size(); ++q)
        values[q] *= r[q % static_cast<std::size_t>(tile.count)];
      multiply_cells(tile, area, values);
      double part = 0.;
      for_each_weighted(
          rule, tile.count, [&](double weight, std::size_t q) { part += weight * values[q]; });
      sum += part;
      r += tile.count;
    });
    return sum;
  }

  std::array<std::optional<double>, 6> side_fluxes(const Problem &problem, const LevelGrid &grid,
      const CellBasis &basis, const Vector<double> &u)
  {
    std::array<double, 6> flux{};
    for (int side = 0; side < 2 * problem.dim; ++side)
    {
      if (problem.boundary[side] == BoundaryKind::periodic || !has_side(grid, side))
        continue;
      const ScalarFunction value = scalar_function(problem, problem.boundary_value[side]);
      const double h = grid.mean_cell_size(side / 2);
      const double area = grid.mean_cell_volume() / h;
      flux[side] = problem.boundary[side] == BoundaryKind::dirichlet
          ? area * ((grid.cells != nullptr ? 1. : problem.coefficient) / h) *
              dirichlet_flux(grid, basis, u, side, value)
          : area *
              integrate(grid, value, side_cells(grid.block, side), side_rule(grid, basis, side),
                  area_factor(grid, side / 2))
                  .value;
      if (problem.boundary[side] == BoundaryKind::robin)
        flux[side] -= area * robin_flux(grid, basis, u, side);
    }
    sum_in_order(flux, grid.communicator);
    std::array<std::optional<double>, 6> result;
    for (int side = 0; side < 6; ++side)
      if (side < 2 * problem.dim && problem.boundary[side] != BoundaryKind::periodic)
        result[side] = flux[side];
    return result;
  }

  /// The cells of one direction, on all ranks, that a coordinate lies in: two on a face, none outside of the box.
  std::vector<std::int64_t> cells_at(const LevelGrid &grid, int d, double position)
  {
    const double rounding = grid.axis[d].place_rounding();
    std::vector<std::int64_t> cells;
    for (const double at : {position - rounding, position + rounding})
    {
      const double cell = std::floor(at);
      if (cell >= 0. && cell < static_cast<double>(grid.global_cells[d]) &&
          (cells.empty() || cells.back() != static_cast<std::int64_t>(cell)))
        cells.push_back(static_cast<std::int64_t>(cell));
    }
    return cells;
  }

  /// Value, derivatives and number of cells: what this rank's cells at the point have.
  class PointSum
  {
  public:
    PointSum(const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u)
      : grid_(grid)
      , basis_(basis)
      , u_(u)
    {}

    std::array<double, 5> at(const std::array<double, 3> &point)
    {
      std::array<std::vector<std::int64_t>, 3> cells{{{}, {}, {0}}};
      std::array<double, 3> position{};
      for (int d = 0; d < grid_.block.dim; ++d)
      {
        position[d] = grid_.axis[d].place(point[d]);
        cells[d] = cells_at(grid_, d, position[d]);
      }
      sum_ = {};
      for (const std::int64_t cz : cells[2])
        for (const std::int64_t cy : cells[1])
          for (const std::int64_t cx : cells[0])
            add_cell({cx, cy, cz}, position);
      return sum_;
    }

  private:
    /// If the cell is one of this rank's.
    void add_cell(std::array<std::int64_t, 3> cell, const std::array<double, 3> &position)
    {
      TensorRule rule;
      for (int d = 0; d < grid_.block.dim; ++d)
      {
        const double t = std::clamp(position[d] - static_cast<double>(cell[d]), 0., 1.);
        rule[d] = point_rule(basis_, std::span(&t, 1));
        cell[d] -= grid_.offset[d];
        if (cell[d] < 0 || cell[d] >= grid_.block.cells[d])
          return;
      }
      const Tile tile{cell[0], 1, cell[1], cell[2]};
      evaluator_.evaluate(u_, rule, tile, -1, out_);
      sum_[0] += out_[0];
      for (int d = 0; d < grid_.block.dim; ++d)
      {
        evaluator_.evaluate(u_, rule, tile, d, out_);
        sum_[1 + d] += out_[0] / grid_.axis[d].size(grid_.offset[d] + cell[d]);
      }
      sum_[4] += 1.;
    }

    const LevelGrid &grid_;
    const CellBasis &basis_;
    const Vector<double> &u_;
    TileEvaluator evaluator_;
    std::vector<double> out_;
    std::array<double, 5> sum_{};
  };
} // namespace

SolutionNumbers solution_numbers(
    const Problem &problem, const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u)
{
  const Sums sums = sums_of(grid, basis, u, 1.);
  double cells = 1.;
  for (const std::int64_t n : grid.global_cells)
    cells *= static_cast<double>(n);
  SolutionNumbers numbers;
  numbers.mean = sums.value / cells;
  numbers.integral = grid.mean_cell_volume() * sums.value;
  numbers.minimum = sums.lowest;
  numbers.maximum = sums.highest;
  numbers.l2_norm = std::sqrt(grid.mean_cell_volume()) * root_of_squares(grid, basis, u, sums);
  numbers.side_flux = side_fluxes(problem, grid, basis, u);
  return numbers;
}

std::vector<PointValue> values_at(const LevelGrid &grid, const CellBasis &basis,
    const Vector<double> &u, const std::vector<std::array<double, 3>> &points)
{
  if (points.empty())
    return {};
  PointSum sum(grid, basis, u);
  std::vector<double> numbers;
  for (const std::array<double, 3> &point : points)
    for (const double number : sum.at(point))
      numbers.push_back(number);
  sum_in_order(numbers, grid.communicator);
  std::vector<PointValue> values;
  for (std::size_t i = 0; i < points.size(); ++i)
  {
    const double *const of_point = numbers.data() + 5 * i;
    const double count = of_point[4];
    PointValue value{points[i], of_point[0] / count, {}};
    for (int d = 0; d < grid.block.dim; ++d)
      value.gradient[d] = of_point[1 + d] / count;
    values.push_back(value);
  }
  return values;
}
} // namespace tensormg
