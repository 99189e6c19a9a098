#include "operators/cellwise/cell_coefficients.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "operators/constant/transfer_operator.h"
#include "operators/data/functions.h"
#include "operators/data/tensor_rule.h"
#include "tensormg/report.h"

namespace tensormg
{
namespace
{
  std::string place_text(const LevelGrid &grid, std::int64_t cx, std::int64_t cy, std::int64_t cz)
  {
    std::ostringstream text;
    const std::array<std::int64_t, 3> cell{cx, cy, cz};
    for (int d = 0; d < grid.block.dim; ++d)
      text << (d == 0 ? "(" : ", ")
           << grid.lower[d] +
              (static_cast<double>(grid.offset[d] + cell[d]) + 0.5) * grid.cell_size[d];
    text << ')';
    return text.str();
  }

  /// A coefficient on the finest level.
  class CellValues
  {
  public:
    CellValues(const LevelGrid &grid, const CellBasis &basis, std::string key, bool is_reaction,
        InCell in_cell)
      : grid_(grid)
      , mean_(tensor_rule(grid.block, gauss_rule(basis, basis.n)))
      , middle_(tensor_rule(grid.block, point_rule(basis, std::array{0.5})))
      , corners_(tensor_rule(grid.block, point_rule(basis, std::array{0.01, 0.99})))
      , key_(std::move(key))
      , is_reaction_(is_reaction)
      , in_cell_(in_cell)
    {}

    CellArray of(const ScalarFunction &f)
    {
      CellArray result(grid_.block);
      const TensorRule &rule = in_cell_ == InCell::mean ? mean_ : middle_;
      for_each_tile(all_cells(grid_.block), rule, [&](const Tile &tile) {
        points_.set(grid_, rule, tile);
        points_.evaluate(f, values_);
        for (std::int64_t c = 0; c < tile.count; ++c)
        {
          const double value = in_cell_ == InCell::mean ? mean_of_cell(tile, c) : values_[c];
          check(f, value, tile, c);
          result(tile.cx + c, tile.cy, tile.cz) = value;
        }
        if (in_cell_ == InCell::constant && !f.is_constant())
          check_corners(f, tile, result);
      });
      return result;
    }

  private:
    double mean_of_cell(const Tile &tile, std::int64_t c) const
    {
      double sum = 0.;
      std::size_t at = static_cast<std::size_t>(c);
      for (const double wz : mean_[2].weights)
        for (const double wy : mean_[1].weights)
          for (const double wx : mean_[0].weights)
          {
            sum += wx * wy * wz * values_[at];
            at += static_cast<std::size_t>(tile.count);
          }
      return sum;
    }

    [[noreturn]] void refuse(
        const ScalarFunction &f, const std::string &reason, const Tile &tile, std::int64_t c) const
    {
      throw ExpressionError(key_, f.expression(),
          reason + " in the cell at " + place_text(grid_, tile.cx + c, tile.cy, tile.cz));
    }
    void check(const ScalarFunction &f, double value, const Tile &tile, std::int64_t c) const
    {
      if (!std::isfinite(value))
        refuse(f, "is infinite or not a number", tile, c);
      if (is_reaction_ ? value < 0. : value <= 0.)
        refuse(f,
            "is " + number_text(value) + (is_reaction_ ? ", allowed: >= 0," : ", allowed: > 0,"),
            tile, c);
    }

    void check_corners(const ScalarFunction &f, const Tile &tile, const CellArray &middle)
    {
      constexpr double rounding = 1e-10;
      points_.set(grid_, corners_, tile);
      points_.evaluate(f, values_);
      for (std::size_t q = 0; q < values_.size(); ++q)
      {
        const std::int64_t c = static_cast<std::int64_t>(q) % tile.count;
        const double there = middle(tile.cx + c, tile.cy, tile.cz);
        if (!(std::abs(values_[q] - there) <= rounding * std::abs(there)))
          refuse(f,
              "is " + number_text(there) + " in the middle and " + number_text(values_[q]) +
                  " near a corner (allowed: one value per cell, with cell faces where it changes; or "
                  "problem.coefficient_in_cell = mean)",
              tile, c);
      }
    }

    const LevelGrid &grid_;
    TensorRule mean_, middle_, corners_;
    std::string key_;
    bool is_reaction_;
    InCell in_cell_;
    TilePoints points_;
    std::vector<double> values_;
  };

  LevelGrid with_one_mode(const LevelGrid &level)
  {
    LevelGrid result = level;
    result.block = Block(level.block.dim, 0, level.block.cells);
    result.cells = nullptr;
    return result;
  }

  /// The means of the children.
  CellArray coarsened(const CellArray &fine, const LevelGrid &above, const LevelGrid &below)
  {
    std::array<std::int64_t, 3> children{1, 1, 1};
    double count = 1.;
    for (int d = 0; d < above.block.dim; ++d)
    {
      children[d] = above.global_cells[d] / below.global_cells[d];
      count *= static_cast<double>(children[d]);
    }
    const auto mean = [&](std::int64_t cx, std::int64_t cy, std::int64_t cz) {
      double sum = 0.;
      for (std::int64_t z = 0; z < children[2]; ++z)
        for (std::int64_t y = 0; y < children[1]; ++y)
          for (std::int64_t x = 0; x < children[0]; ++x)
            sum += fine(cx * children[0] + x, cy * children[1] + y, cz * children[2] + z);
      return sum / count;
    };
    CellArray result(below.block);
    const auto for_cells = [](const Block &block, auto &&use) {
      for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
        for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
          for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
            use(cx, cy, cz);
    };
    if (!below.replicated || above.replicated)
    {
      for_cells(below.block, [&](auto... cell) { result(cell...) = mean(cell...); });
      return result;
    }
    const LevelGrid fine_level = with_one_mode(above), coarse_level = with_one_mode(below);
    ReplicatedPart<double> part(fine_level, coarse_level);
    Vector<double> whole(coarse_level.block), &local = part.numbers();
    for_cells(local.block(), [&](std::int64_t cx, std::int64_t cy, std::int64_t cz) {
      local[local.block().index(cx, cy, cz, 0, 0, 0)] = mean(cx, cy, cz);
    });
    part.gather(whole);
    for_cells(below.block, [&](std::int64_t cx, std::int64_t cy, std::int64_t cz) {
      result(cx, cy, cz) = whole[coarse_level.block.index(cx, cy, cz, 0, 0, 0)];
    });
    return result;
  }

  /// Sum, smallest and largest of the cells of all ranks.
  struct Extent
  {
    double sum = 0., least = INFINITY, most = 0.;
  };
  Extent extent(const CellData &data, const LevelGrid &level)
  {
    Extent result;
    for (int d = 0; d < (data.k[1].empty() ? 1 : level.block.dim); ++d)
      for (std::int64_t cz = 0; cz < level.block.cells[2]; ++cz)
        for (std::int64_t cy = 0; cy < level.block.cells[1]; ++cy)
          for (std::int64_t cx = 0; cx < level.block.cells[0]; ++cx)
          {
            const double k = data.k[d](cx, cy, cz);
            result.sum += k;
            result.least = std::min(result.least, k);
            result.most = std::max(result.most, k);
          }
    std::array<double, 2> ends{-result.least, result.most};
    MPI_Allreduce(MPI_IN_PLACE, &result.sum, 1, MPI_DOUBLE, MPI_SUM, level.communicator);
    MPI_Allreduce(MPI_IN_PLACE, ends.data(), 2, MPI_DOUBLE, MPI_MAX, level.communicator);
    return {result.sum, -ends[0], ends[1]};
  }

  /// Sets largest_jump and strength of data that are closed.
  void measure(const LevelGrid &level, CellData &data)
  {
    const int dim = level.block.dim;
    std::array<double, 4> most{1., 1., 1., 1.}; // of the directions, and of faces
    for (std::int64_t cz = 0; cz < level.block.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < level.block.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < level.block.cells[0]; ++cx)
        {
          std::array<double, 3> c{};
          for (int d = 0; d < dim; ++d)
          {
            const CellArray &k = data.of_direction(d);
            const double own = k(cx, cy, cz),
                         other = k(cx - (d == 0), cy - (d == 1), cz - (d == 2));
            most[3] = std::max({most[3], own / other, other / own});
            c[d] = own / (level.cell_size[d] * level.cell_size[d]);
          }
          const double least = *std::min_element(c.begin(), c.begin() + dim);
          for (int d = 0; d < dim; ++d)
            most[d] = std::max(most[d], c[d] / least);
        }
    MPI_Allreduce(MPI_IN_PLACE, most.data(), 4, MPI_DOUBLE, MPI_MAX, level.communicator);
    data.strength = {most[0], most[1], most[2]};
    data.largest_jump = most[3];
  }

  CellData finest_data(const Grid &grid, const CellBasis &basis)
  {
    const Problem &problem = grid.problem;
    CellData data;
    CellValues diffusion(
        grid.finest(), basis, "problem.coefficient", false, problem.coefficient_in_cell);
    for (int d = 0; d < problem.dim; ++d)
      if (!problem.cell_coefficient[d].empty())
        data.k[d] = diffusion.of(scalar_function(problem, problem.cell_coefficient[d]));
    if (data.k[0].empty())
    {
      data.k[0] = CellArray(grid.finest().block); // of ones
      for (std::int64_t cz = 0; cz < grid.finest().block.cells[2]; ++cz)
        for (std::int64_t cy = 0; cy < grid.finest().block.cells[1]; ++cy)
          for (std::int64_t cx = 0; cx < grid.finest().block.cells[0]; ++cx)
            data.k[0](cx, cy, cz) = problem.coefficient;
    }
    if (!problem.reaction.empty())
      data.reaction =
          CellValues(grid.finest(), basis, "problem.reaction", true, problem.coefficient_in_cell)
              .of(scalar_function(problem, problem.reaction));
    return data;
  }
} // namespace

void add_cell_coefficients(Grid &grid, const CellBasis &basis)
{
  if (!grid.problem.is_cellwise())
    return;
  auto data = std::make_shared<CellData>(finest_data(grid, basis));
  const Extent whole = extent(*data, grid.finest());
  double numbers = data->k[1].empty() ? 1. : grid.problem.dim;
  for (const std::int64_t cells : grid.finest().global_cells)
    numbers *= static_cast<double>(cells);
  grid.problem.coefficient = std::ldexp(1., std::ilogb(whole.sum / numbers));
  for (std::size_t l = grid.levels.size(); l-- > 0;)
  {
    LevelGrid &level = grid.levels[l];
    data->smallest_k = whole.least;
    data->largest_k = whole.most;
    data->reference = grid.problem.coefficient;
    for (CellArray *array : {&data->k[0], &data->k[1], &data->k[2], &data->reaction})
      if (!array->empty())
        array->close(level);
    if (l + 1 == grid.levels.size())
      measure(level, *data);
    level.cells = data;
    if (l == 0)
      break;
    auto coarser = std::make_shared<CellData>();
    for (const auto &[from, to] :
        {std::pair{&data->k[0], &coarser->k[0]}, {&data->k[1], &coarser->k[1]},
            {&data->k[2], &coarser->k[2]}, {&data->reaction, &coarser->reaction}})
      if (!from->empty())
        *to = coarsened(*from, level, grid.levels[l - 1]);
    data = coarser;
  }
}
} // namespace tensormg
