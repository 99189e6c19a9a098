#include "operators/pointwise/cell_variety.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/laplace/pointwise/lanes.h"
#include "operators/mesh/sums_over_ranks.h"

namespace tensormg
{
namespace
{
  using Cell = std::array<std::int64_t, 3>;

  /// Of cells.
  struct Summary
  {
    Lanes strength{}, within{};
    Lanes mixed{}; ///< sum over a != b of G_ab^2 / (G_aa G_bb), in the mean
    Lanes mean{};  ///< of the logarithm of k
  };

  class VarietyReader
  {
  public:
    explicit VarietyReader(const BlockLevels::Level &level)
      : block_(level.grid.block)
      , volume_(level.metric.view().volume)
      , means_(level.metric.means())
    {
      if (means_ != nullptr)
      {
        weight_ = weight_of_det_ = {1.};
        return;
      }
      const std::array<double, max_n> &line = level.tables.weight;
      for (std::int64_t q = 0; q < laplace::points_of_cell(block_); ++q)
      {
        weight_.push_back(line[q % block_.n] * line[q / block_.n % block_.n] *
            (block_.dim == 3 ? line[q / block_.n / block_.n] : 1.));
        weight_of_det_.push_back(std::pow(weight_.back(), block_.dim));
      }
    }

    Summary of(const CellsInLanes &cells) const
    {
      const int dim = block_.dim;
      std::array<Lanes, 3> sums{};
      Lanes least = all_lanes(INFINITY), largest{};
      Summary result;
      for (std::size_t q = 0; q < weight_.size(); ++q)
      {
        const Matrix3Of<Lanes> g = metric(cells, static_cast<std::int64_t>(q));
        for (int a = 0; a < dim; ++a)
        {
          sums[a] += g[a][a];
          for (int b = 0; b < a; ++b)
            result.mixed += 2. * weight_[q] * (g[a][b] * g[a][b]) / (g[a][a] * g[b][b]);
        }
        const Lanes det = determinant(g) / weight_of_det_[q];
        least = min(det, least);
        largest = max(det, largest);
        for (int l = 0; l < cells.count; ++l)
          result.mean[l] += weight_[q] * std::log(det[l]) / dim;
      }
      Lanes smallest = sums[0], strongest = sums[0];
      for (int a = 1; a < dim; ++a)
      {
        smallest = min(smallest, sums[a]);
        strongest = max(strongest, sums[a]);
      }
      result.strength = strongest / smallest;
      for (int l = 0; l < cells.count; ++l)
        result.within[l] = std::pow(largest[l] / least[l], 1. / dim);
      return result;
    }

  private:
    /// In 2D with one for z.
    Matrix3Of<Lanes> metric(const CellsInLanes &cells, std::int64_t q) const
    {
      const std::int64_t row = cells.first[2] * block_.cells[1] + cells.first[1],
                         cx = cells.first[0];
      Matrix3Of<Lanes> g{};
      g[2][2] = all_lanes(1.);
      for (int a = 0; a < block_.dim; ++a)
        for (int b = a; b < block_.dim; ++b)
        {
          const int place = laplace::volume_place(block_.dim, a, b);
          g[a][b] = g[b][a] = load_lanes(means_ != nullptr
                  ? &means_[laplace::cell_mean_index(block_, row, place, cx)]
                  : &volume_[laplace::volume_index(block_, row, q, place, cx)]);
        }
      return g;
    }

    const Block &block_;
    std::vector<double> weight_, weight_of_det_; ///< of the points; G comes times the first
    const double *volume_, *means_;              ///< the one that there is
  };

  /// r h / K of a side of a boundary.
  double robin_of(const BlockLevels::Level &level, const Cell &cell, int side)
  {
    const Block &block = level.grid.block;
    const std::int64_t row = cell[2] * block.cells[1] + cell[1];
    double r = 0., g = 0.;
    for (std::int64_t q = 0; q < laplace::points_of_face(block); ++q)
    {
      r += level.metric.face(row, side, q, block.dim, cell[0]);
      g += level.metric.face(row, side, q, 0, cell[0]);
    }
    return r / g;
  }
} // namespace

CellVariety cell_variety(const BlockLevels::Level &level)
{
  const Block &block = level.grid.block;
  const VarietyReader reader(level);
  CellVariety result;
  double mixed = 0.;
  std::vector<double> means;
  for_lanes(block, [&](const CellsInLanes &cells) {
    const Summary of_cells = reader.of(cells);
    for (int l = 0; l < cells.count; ++l)
    {
      result.strength = std::max(result.strength, of_cells.strength[l]);
      result.within = std::max(result.within, of_cells.within[l]);
      mixed += of_cells.mixed[l];
      means.push_back(of_cells.mean[l]);
    }
  });
  const auto mean = [&](const Cell &cell) {
    return means[static_cast<std::size_t>(
        (cell[2] * block.cells[1] + cell[1]) * block.cells[0] + cell[0])];
  };
  auto exchange = level.make_exchange<double>(1, 1);
  exchange.run([&](const Cell &cell, int, std::int64_t, int) { return mean(cell); });
  const Block cells(block.dim, 0, block.cells); // with one point
  const std::int64_t n = level.shape.per_direction;
  double between = 0., within_blocks = 0.; // logarithms
  for_stacked_cells(block, [&](const Cell &cell) {
    for (int side = 0; side < 2 * block.dim; ++side)
      if (const auto behind = laplace::point_behind(
              cells, level.shape.per_direction, level.links->data(), cell, side, 0, 0);
          behind.kind == Side::neumann)
        result.robin = std::max(result.robin, robin_of(level, cell, side));
      else if (behind.kind == Side::ghost)
      {
        const double difference = mean(cell) -
            (behind.is_local() ? mean(behind.cell) : exchange.received()[behind.remote]);
        between = std::max(between, difference);
        const std::int64_t place = side / 2 == 0 ? cell[0] % n : cell[side / 2];
        if (place != (side % 2 == 0 ? 0 : n - 1))
          within_blocks = std::max(within_blocks, difference);
      }
  });
  result.between = std::exp(between);
  result.within_blocks = std::exp(within_blocks);
  result.shear = std::sqrt(sum_in_order(mixed, level.grid.communicator) /
      static_cast<double>(level.grid.global_cells[0] * level.grid.global_cells[1] *
          level.grid.global_cells[2] * block.dim));
  std::array<double, 5> largest{
      result.strength, result.within, result.between, result.within_blocks, result.robin};
  MPI_Allreduce(MPI_IN_PLACE, largest.data(), 5, MPI_DOUBLE, MPI_MAX, level.grid.communicator);
  result.strength = largest[0];
  result.within = largest[1];
  result.between = largest[2];
  result.within_blocks = largest[3];
  result.robin = largest[4];
  return result;
}

std::vector<double> cell_strengths(const BlockLevels::Level &level)
{
  const auto &[nx, ny, nz] = level.grid.global_cells;
  std::vector<double> result(static_cast<std::size_t>(nx * ny * nz), 0.);
  const VarietyReader reader(level);
  for_lanes(level.grid.block, [&](const CellsInLanes &cells) {
    const Lanes mean = reader.of(cells).mean;
    for (int l = 0; l < cells.count; ++l)
    {
      const auto [cx, cy, cz] = cells[l];
      const std::int64_t at = (cz * ny + cy) * nx + cx + level.grid.offset[0];
      result[static_cast<std::size_t>(at)] = std::exp(mean[l]);
    }
  });
  sum_many(result, level.grid.communicator);
  return result;
}
} // namespace tensormg
