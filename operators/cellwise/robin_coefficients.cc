#include "operators/cellwise/robin_coefficients.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "operators/data/functions.h"
#include "operators/data/tensor_rule.h"
#include "tensormg/report.h"

namespace tensormg
{
namespace
{
  /// The directions along a side, the one whose faces are counted fastest first.
  std::array<int, 2> directions_along(int side)
  {
    return {side / 2 == 0 ? 1 : 0, side / 2 == 2 ? 1 : 2};
  }

  /// The coefficient of a side on the finest level.
  class FaceValues
  {
  public:
    FaceValues(const Grid &grid, const CellBasis &basis, int side)
      : problem_(grid.problem)
      , grid_(grid.finest())
      , side_(side)
      , mean_(on_side(basis, gauss_rule(basis, basis.n)))
      , middle_(on_side(basis, point_rule(basis, std::array{0.5})))
      , corners_(on_side(basis, point_rule(basis, std::array{0.01, 0.99})))
      , f_(scalar_function(problem_, problem_.robin_coefficient[side]))
    {}

    std::vector<double> values()
    {
      const bool takes_mean = problem_.coefficient_in_cell == InCell::mean;
      const TensorRule &rule = takes_mean ? mean_ : middle_;
      std::vector<double> result;
      for_each_tile(side_cells(grid_.block, side_), rule, [&](const Tile &tile) {
        evaluate(rule, tile);
        for (std::size_t q = 0; q < values_.size(); ++q)
          check(values_[q], tile, q);
        for (std::int64_t c = 0; c < tile.count; ++c)
          result.push_back(takes_mean ? weighted_sum(mean_, values_, tile.count, c) : values_[c]);
        if (!takes_mean && !f_.is_constant())
          check_corners(tile, result.data() + result.size() - tile.count);
      });
      return result;
    }

  private:
    TensorRule on_side(const CellBasis &basis, const LineRule &line) const
    {
      TensorRule rule = tensor_rule(grid_.block, line);
      rule[side_ / 2] = end_rule(basis, side_ % 2, basis.v); // its projection is not needed
      return rule;
    }

    void evaluate(const TensorRule &rule, const Tile &tile)
    {
      points_.set(grid_, rule, tile);
      points_.evaluate(f_, values_);
    }

    void check(double value, const Tile &tile, std::size_t q)
    {
      if (!std::isfinite(value))
        refuse("is infinite or not a number", tile, q);
      if (value < 0.)
        refuse("is " + number_text(value) + ", allowed: >= 0,", tile, q);
    }

    void check_corners(const Tile &tile, const double *middle)
    {
      constexpr double rounding = 1e-10;
      evaluate(corners_, tile);
      for (std::size_t q = 0; q < values_.size(); ++q)
      {
        const double there = middle[q % static_cast<std::size_t>(tile.count)];
        if (!(std::abs(values_[q] - there) <= rounding * std::abs(there)))
          refuse("is " + number_text(there) + " in the middle and " + number_text(values_[q]) +
                  " near a corner (allowed: one value per face, with edges of cells where it changes; or "
                  "problem.coefficient_in_cell = mean)",
              tile, q);
      }
    }

    /// q: number of a point of the tile.
    [[noreturn]] void refuse(const std::string &reason, const Tile &tile, std::size_t q)
    {
      const std::int64_t cx = tile.cx + static_cast<std::int64_t>(q) % tile.count;
      points_.set(grid_, middle_, {cx, 1, tile.cy, tile.cz});
      const auto &[x, y, z] = points_.coordinates;
      throw ExpressionError(f_.expression(),
          reason + " on the face at " + point_text({x[0], y[0], z[0]}, problem_.dim));
    }

    const Problem &problem_;
    const LevelGrid &grid_;
    int side_;
    TensorRule mean_, middle_, corners_;
    ScalarFunction f_;
    TilePoints points_;
    std::vector<double> values_;
  };

  std::vector<double> coarser_faces(
      const std::vector<double> &fine, int side, const LevelGrid &above, const LevelGrid &below)
  {
    const auto along = directions_along(side);
    const bool gathers = below.replicated && !above.replicated;
    std::array<std::int64_t, 2> children{}, cells{}, first{};
    for (int i = 0; i < 2; ++i)
    {
      const int d = along[i];
      children[i] = above.global_cells[d] / below.global_cells[d];
      cells[i] = above.block.cells[d] / children[i];
      first[i] = gathers ? above.offset[d] / children[i] : 0;
    }
    const std::int64_t row = below.block.cells[along[0]], fine_row = above.block.cells[along[0]];
    std::vector<double> result;
    if (gathers || !fine.empty())
      result.assign(static_cast<std::size_t>(row * below.block.cells[along[1]]), 0.);
    for (std::int64_t b = 0; !fine.empty() && b < cells[1]; ++b)
      for (std::int64_t a = 0; a < cells[0]; ++a)
      {
        double sum = 0., area = 0.;
        for (std::int64_t j = b * children[1]; j < (b + 1) * children[1]; ++j)
          for (std::int64_t i = a * children[0]; i < (a + 1) * children[0]; ++i)
          {
            const double of_child = above.axis[along[0]].relative_size(above.offset[along[0]] + i) *
                above.axis[along[1]].relative_size(above.offset[along[1]] + j);
            sum += of_child * fine[j * fine_row + i];
            area += of_child;
          }
        result[(first[1] + b) * row + first[0] + a] = sum / area;
      }
    if (gathers)
      MPI_Allreduce(MPI_IN_PLACE, result.data(), static_cast<int>(result.size()), MPI_DOUBLE,
          MPI_SUM, above.communicator);
    return result;
  }
} // namespace

std::string robin_key(int side)
{
  return std::string("boundary.") + side_names[side] + "_robin_coefficient";
}

FaceNumbers robin_coefficients(const Grid &grid, const CellBasis &basis)
{
  const Problem &problem = grid.problem;
  FaceNumbers result;
  for (int side = 0; side < 2 * problem.dim; ++side)
    if (problem.boundary[side] == BoundaryKind::robin && is_closed(grid.finest().sides[side]))
      try
      {
        result[side] = FaceValues(grid, basis, side).values();
      }
      catch (const ExpressionError &error)
      {
        throw ExpressionError(robin_key(side), error.expression(), error.reason());
      }
  return result;
}

FaceNumbers coarser_robin(
    const Problem &problem, const FaceNumbers &fine, const LevelGrid &above, const LevelGrid &below)
{
  FaceNumbers result;
  for (int side = 0; side < 2 * problem.dim; ++side)
    if (problem.boundary[side] == BoundaryKind::robin)
      result[side] = coarser_faces(fine[side], side, above, below);
  return result;
}

void measure_robin(const LevelGrid &level, CellData &data)
{
  std::array<double, 2> largest{};
  for (int side = 0; side < 2 * level.block.dim; ++side)
  {
    const std::vector<double> &faces = data.robin[side];
    if (faces.empty())
      continue;
    const CellArray &k = data.of_direction(side / 2);
    const int d = side / 2;
    const double h = level.axis[d].size(side % 2 == 0 ? 0 : level.global_cells[d] - 1);
    std::size_t face = 0;
    for_side_cells(level.block, side, [&](auto... cell) {
      const double r = faces[face++];
      largest[0] = std::max(largest[0], r);
      largest[1] = std::max(largest[1], r * h / k(cell...));
    });
  }
  MPI_Allreduce(MPI_IN_PLACE, largest.data(), 2, MPI_DOUBLE, MPI_MAX, level.communicator);
  data.largest_r = largest[0];
  data.largest_kappa = largest[1];
}
} // namespace tensormg
