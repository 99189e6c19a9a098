#include "operators/pointwise/cell_variety.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "operators/mesh/sums_over_ranks.h"

namespace tensormg
{
namespace
{
  using Cell = std::array<std::int64_t, 3>;

  /// Of a cell.
  struct Summary
  {
    double strength = 1., within = 1.;
    double mixed = 0.; ///< sum over a != b of G_ab^2 / (G_aa G_bb), in the mean
    double mean = 0.;  ///< of the logarithm of k
  };

  class VarietyReader
  {
  public:
    explicit VarietyReader(const BlockLevels::Level &level)
      : block_(level.grid.block)
      , weight_(level.tables.weight)
      , volume_(level.metric.view().volume)
    {}

    Summary of(const Cell &cell) const
    {
      std::array<double, 3> sums{};
      double least = INFINITY, largest = -INFINITY, mixed = 0., mean = 0.;
      for (std::int64_t q = 0; q < laplace::points_of_cell(block_); ++q)
      {
        double weight = weight_[q % block_.n] * weight_[q / block_.n % block_.n];
        if (block_.dim == 3)
          weight *= weight_[q / block_.n / block_.n];
        for (int a = 0; a < block_.dim; ++a)
        {
          sums[a] += g(cell, q, a, a);
          for (int b = 0; b < a; ++b)
            mixed +=
                2. * weight * std::pow(g(cell, q, a, b), 2) / (g(cell, q, a, a) * g(cell, q, b, b));
        }
        // G comes times the weight.
        const double k = std::log(determinant(cell, q)) / block_.dim - std::log(weight);
        least = std::min(least, k);
        largest = std::max(largest, k);
        mean += weight * k;
      }
      const auto [smallest, strongest] =
          std::minmax_element(sums.begin(), sums.begin() + block_.dim);
      return {*strongest / *smallest, std::exp(largest - least), mixed, mean};
    }

  private:
    double g(const Cell &cell, std::int64_t q, int a, int b) const
    {
      return volume_[laplace::volume_index(block_, cell[2] * block_.cells[1] + cell[1], q,
          laplace::volume_place(block_.dim, std::min(a, b), std::max(a, b)), cell[0])];
    }
    double determinant(const Cell &cell, std::int64_t q) const
    {
      const auto minor = [&](int a, int b, int c, int d) {
        return g(cell, q, a, c) * g(cell, q, b, d) - g(cell, q, a, d) * g(cell, q, b, c);
      };
      if (block_.dim == 2)
        return minor(0, 1, 0, 1);
      return g(cell, q, 0, 0) * minor(1, 2, 1, 2) - g(cell, q, 0, 1) * minor(1, 2, 0, 2) +
          g(cell, q, 0, 2) * minor(1, 2, 0, 1);
    }

    const Block &block_;
    const std::array<double, max_n> &weight_;
    const double *volume_;
  };
} // namespace

CellVariety cell_variety(const BlockLevels::Level &level)
{
  const Block &block = level.grid.block;
  const VarietyReader reader(level);
  CellVariety result;
  double mixed = 0.;
  std::vector<double> means;
  for_stacked_cells(block, [&](const Cell &cell) {
    const Summary of_cell = reader.of(cell);
    result.strength = std::max(result.strength, of_cell.strength);
    result.within = std::max(result.within, of_cell.within);
    mixed += of_cell.mixed;
    means.push_back(of_cell.mean);
  });
  const auto mean = [&](const Cell &cell) {
    return means[static_cast<std::size_t>(
        (cell[2] * block.cells[1] + cell[1]) * block.cells[0] + cell[0])];
  };
  auto exchange = level.make_exchange<double>(1, 1);
  exchange.run([&](const Cell &cell, int, std::int64_t, int) { return mean(cell); });
  const Block cells(block.dim, 0, block.cells); // with one point
  const std::int64_t n = level.shape.per_direction;
  for_stacked_cells(block, [&](const Cell &cell) {
    for (int side = 0; side < 2 * block.dim; ++side)
      if (const auto behind = laplace::point_behind(
              cells, level.shape.per_direction, level.links->data(), cell, side, 0, 0);
          behind.kind == Side::ghost)
      {
        const double quotient = std::exp(mean(cell) -
            (behind.is_local() ? mean(behind.cell) : exchange.received()[behind.remote]));
        result.between = std::max(result.between, quotient);
        const std::int64_t place = side / 2 == 0 ? cell[0] % n : cell[side / 2];
        if (place != (side % 2 == 0 ? 0 : n - 1))
          result.within_blocks = std::max(result.within_blocks, quotient);
      }
  });
  result.shear = std::sqrt(sum_in_order(mixed, level.grid.communicator) /
      static_cast<double>(level.grid.global_cells[0] * level.grid.global_cells[1] *
          level.grid.global_cells[2] * block.dim));
  std::array<double, 4> largest{
      result.strength, result.within, result.between, result.within_blocks};
  MPI_Allreduce(MPI_IN_PLACE, largest.data(), 4, MPI_DOUBLE, MPI_MAX, level.grid.communicator);
  result.strength = largest[0];
  result.within = largest[1];
  result.between = largest[2];
  result.within_blocks = largest[3];
  return result;
}

std::vector<double> cell_strengths(const BlockLevels::Level &level)
{
  const auto &[nx, ny, nz] = level.grid.global_cells;
  std::vector<double> result(static_cast<std::size_t>(nx * ny * nz), 0.);
  const VarietyReader reader(level);
  for_stacked_cells(level.grid.block, [&](const Cell &cell) {
    const std::int64_t at = (cell[2] * ny + cell[1]) * nx + cell[0] + level.grid.offset[0];
    result[static_cast<std::size_t>(at)] = std::exp(reader.of(cell).mean);
  });
  sum_many(result, level.grid.communicator);
  return result;
}
} // namespace tensormg
