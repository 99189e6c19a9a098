#include "operators/library/coefficient_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <mpi.h>

#include "operators/library/mesh_points.h"
#include "tensormg/solver.h"

namespace tensormg
{
namespace
{
  /// What the own blocks have.
  class OwnValues
  {
  public:
    OwnValues(const BlockLevels &levels, std::vector<double> values)
      : shape_(levels.levels().back().shape)
      , block_(levels.levels().back().grid.block)
      , per_cell_(points_of_cell_and_sides(block_.dim, block_.n))
      , values_(std::move(values))
      , size_(block_.cells[0] * block_.cells[1] * block_.cells[2] * per_cell_)
    {
      double end = 0.;
      for (int q = 0; q < block_.n; ++q)
        ends_.push_back(end += levels.tables().weight[static_cast<std::size_t>(q)]);
    }

    int dim() const { return block_.dim; }
    bool has(std::int64_t block) const
    {
      const std::int64_t own = block - shape_.first;
      return own >= 0 && own < block_.cells[0] / shape_.per_direction;
    }

    SymmetricTensor at(
        std::int64_t block, const std::array<std::int64_t, 3> &cell, std::int64_t point) const
    {
      const std::int64_t number = cell_number(shape_, dim(), {block, cell});
      const auto component = [&](int c) {
        return values_[static_cast<std::size_t>(c * size_ + number * per_cell_ + point)];
      };
      const auto count = static_cast<int>(std::ssize(values_) / size_);
      SymmetricTensor k{1., 1., 1., 0., 0., 0.};
      for (int c = 0; c < dim(); ++c)
        k[c] = component(count == 1 ? 0 : c);
      for (int c = dim(); c < count; ++c)
        k[3 + c - dim()] = component(c);
      return k;
    }

    /// At reference coordinates of a block.
    SymmetricTensor near(std::int64_t block, const std::array<double, 3> &place) const
    {
      std::array<std::int64_t, 3> cell{};
      std::int64_t point = 0;
      for (int d = dim() - 1; d >= 0; --d)
      {
        const std::int64_t n = shape_.per_direction;
        const double at = place[d] * static_cast<double>(n);
        cell[d] = std::clamp(static_cast<std::int64_t>(at), std::int64_t{0}, n - 1);
        const auto part =
            std::upper_bound(ends_.begin(), ends_.end() - 1, at - static_cast<double>(cell[d]));
        point = point * block_.n + (part - ends_.begin());
      }
      return at(block, cell, point);
    }

    std::int64_t first_of_side(int side) const
    {
      const std::int64_t n = block_.n, of_side = dim() == 3 ? n * n : n;
      return side < 0 ? 0 : (n + side) * of_side;
    }

    const BlockLevel &shape() const { return shape_; }

  private:
    BlockLevel shape_;
    Block block_;
    std::int64_t per_cell_;
    std::vector<double> values_;
    std::int64_t size_;        ///< of a component
    std::vector<double> ends_; ///< of the parts of a cell in a direction
  };

  /// Samples of all blocks: at the middles of equal parts of each.
  class Samples
  {
  public:
    Samples(const OwnValues &own, std::int64_t n_blocks, std::int64_t per_direction,
        MPI_Comm communicator)
      : dim_(own.dim())
      , n_(per_direction)
    {
      constexpr std::size_t numbers = std::tuple_size_v<SymmetricTensor>;
      const std::int64_t per_block = n_ * n_ * (dim_ == 3 ? n_ : 1);
      std::vector<SymmetricTensor> mine;
      for (std::int64_t block = 0; block < n_blocks; ++block)
        if (own.has(block))
          for (std::int64_t s = 0; s < per_block; ++s)
            mine.push_back(
                own.near(block, {middle(s % n_), middle(s / n_ % n_), middle(s / n_ / n_)}));
      int n_ranks = 1;
      MPI_Comm_size(communicator, &n_ranks);
      std::vector<int> counts(static_cast<std::size_t>(n_ranks)), starts(counts.size());
      const std::int64_t all = n_blocks * per_block * static_cast<std::int64_t>(numbers);
      if (all > std::numeric_limits<int>::max())
        throw MemoryError("the samples of K that every process needs for coarse levels are " +
            std::to_string(all) + " numbers; allowed: up to " +
            std::to_string(std::numeric_limits<int>::max()) +
            ", which a mesh of fewer cells with more refinements gives");
      int count = static_cast<int>(mine.size() * numbers);
      MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, communicator);
      for (std::size_t r = 1; r < starts.size(); ++r)
        starts[r] = starts[r - 1] + counts[r - 1];
      samples_.resize(static_cast<std::size_t>(n_blocks * per_block));
      MPI_Allgatherv(mine.data(), count, MPI_DOUBLE, samples_.data(), counts.data(), starts.data(),
          MPI_DOUBLE, communicator);
    }

    const SymmetricTensor &near(std::int64_t block, const std::array<double, 3> &place) const
    {
      std::int64_t at = block;
      for (int d = dim_ - 1; d >= 0; --d)
        at = at * n_ +
            std::clamp(static_cast<std::int64_t>(place[d] * static_cast<double>(n_)),
                std::int64_t{0}, n_ - 1);
      return samples_[static_cast<std::size_t>(at)];
    }

  private:
    double middle(std::int64_t i) const
    {
      return (static_cast<double>(i) + 0.5) / static_cast<double>(n_);
    }

    int dim_;
    std::int64_t n_; ///< of a direction of a block
    std::vector<SymmetricTensor> samples_;
  };

  std::int64_t number_of_blocks(const BlockLevels &levels)
  {
    return std::ssize(levels.links()) / (2 * levels.levels().back().grid.block.dim);
  }

  /// Of a direction of a block: those of every level that each rank may have as a whole, whatever the coarsening is, since other values of K may
  /// change it.
  std::int64_t samples_per_direction(const BlockLevels &levels)
  {
    constexpr std::int64_t samples_per_point = 2;
    const BlockLevels::Level &finest = levels.levels().back();
    const std::int64_t n_blocks = number_of_blocks(levels), most = finest.shape.per_direction;
    const int dim = finest.grid.block.dim, degree = finest.basis.n - 1;
    // The coarsest one is whole.
    std::int64_t samples =
        samples_per_point * (degrees_of_blocks(dim, degree, n_blocks).front() + 1);
    for (const int p : degrees_on_vertices(degree))
      for (std::int64_t n = 1; n <= most; n *= 2)
        if (!levels.may_divide(Block(dim, p, {n_blocks * n, n, dim == 3 ? n : 1})))
          samples = std::max(samples, samples_per_point * n * (p + 1));
    return samples;
  }
} // namespace

std::int64_t points_of_cell_and_sides(int dim, int n)
{
  const std::int64_t of_side = dim == 3 ? std::int64_t{n} * n : n;
  return (n + 2 * dim) * of_side;
}

double bytes_of_values(const BlockLevels &levels, std::size_t n_values)
{
  const double values = sizeof(double) * static_cast<double>(n_values);
  if (!levels.is_distributed())
    return values;
  return values +
      static_cast<double>(sizeof(SymmetricTensor)) * static_cast<double>(number_of_blocks(levels)) *
      std::pow(static_cast<double>(samples_per_direction(levels)),
          levels.levels().back().grid.block.dim);
}

DiffusionTensor tensor_of_values(const BlockLevels &levels, std::vector<double> values)
{
  const auto own = std::make_shared<const OwnValues>(levels, std::move(values));
  std::shared_ptr<const Samples> of_all;
  if (levels.is_distributed())
    of_all = std::make_shared<const Samples>(
        *own, number_of_blocks(levels), samples_per_direction(levels), levels.communicator());
  return DiffusionTensor::of_cells([own, of_all](std::int64_t block, const PointsOfCell &points,
                                       std::vector<SymmetricTensor> &k) {
    if (points.samples == nullptr)
    {
      for (std::size_t q = 0; q < k.size(); ++q)
        k[q] = own->at(
            block, points.cell, own->first_of_side(points.side) + static_cast<std::int64_t>(q));
      return;
    }
    const std::vector<double> &line = *points.samples;
    for (std::size_t q = 0; q < k.size(); ++q)
    {
      const std::array<std::size_t, 3> sample{
          q % line.size(), q / line.size() % line.size(), q / line.size() / line.size()};
      std::array<double, 3> place{};
      for (int d = 0; d < own->dim(); ++d)
        place[d] = (static_cast<double>(points.cell[d]) + line[sample[d]]) /
            static_cast<double>(points.per_direction);
      k[q] =
          of_all && points.is_of_all_ranks ? of_all->near(block, place) : own->near(block, place);
    }
  });
}
} // namespace tensormg
