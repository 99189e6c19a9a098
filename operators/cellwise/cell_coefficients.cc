#include "operators/cellwise/cell_coefficients.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "operators/cellwise/robin_coefficients.h"
#include "operators/cellwise/separation.h"
#include "operators/constant/transfer_operator.h"
#include "operators/data/functions.h"
#include "operators/data/tensor_rule.h"
#include "operators/data/voxel_pieces.h"
#include "tensormg/report.h"

namespace tensormg
{
namespace
{
  /// A coefficient on the finest level.
  class CellValues
  {
  public:
    CellValues(const Grid &grid, const CellBasis &basis, std::string key, bool is_reaction)
      : problem_(grid.problem)
      , grid_(grid.finest())
      , mean_(tensor_rule(grid_.block, gauss_rule(basis, basis.n)))
      , middle_(tensor_rule(grid_.block, point_rule(basis, std::array{0.5})))
      , corners_(tensor_rule(grid_.block, point_rule(basis, std::array{0.01, 0.99})))
      , key_(std::move(key))
      , is_reaction_(is_reaction)
      , takes_mean_(problem_.coefficient_in_cell == InCell::mean)
    {}

    CellArray of(const std::string &expression)
    {
      try
      {
        const ScalarFunction f = scalar_function(problem_, expression);
        const auto voxels = problem_.voxels.find(expression);
        return voxels != problem_.voxels.end() ? of_voxels(f, voxels->second) : of_points(f);
      }
      catch (const ExpressionError &error)
      {
        throw ExpressionError(key_, error.expression(), error.reason());
      }
    }

  private:
    CellArray of_points(const ScalarFunction &f)
    {
      CellArray result(grid_.block);
      const TensorRule &rule = takes_mean_ ? mean_ : middle_;
      for_each_tile(all_cells(grid_.block), rule, [&](const Tile &tile) {
        points_.set(grid_, rule, tile);
        points_.evaluate(f, values_);
        for (std::size_t q = 0; q < values_.size(); ++q)
          if (!is_usable(values_[q]))
            refuse(f, complaint(values_[q]), tile, static_cast<std::int64_t>(q) % tile.count);
        for (std::int64_t c = 0; c < tile.count; ++c)
          result(tile.cx + c, tile.cy, tile.cz) =
              takes_mean_ ? weighted_sum(mean_, values_, tile.count, c) : values_[c];
        if (!takes_mean_ && !f.is_constant())
          check_corners(f, tile, result);
      });
      return result;
    }

    /// Of a function that is constant in each of so many voxels: exact, wherever their faces lie.
    CellArray of_voxels(const ScalarFunction &f, const std::array<std::int64_t, 3> &voxels)
    {
      CellArray result(grid_.block);
      std::array<VoxelPieces, 3> pieces;
      for (int d = 0; d < 3; ++d)
        pieces[d] = voxel_pieces(grid_, d, d < grid_.block.dim ? voxels[d] : 1);
      const auto of_cell = [&](int d, const std::vector<double> &list, std::int64_t c) {
        const std::size_t *first = pieces[d].first.data() + c;
        return std::span(list).subspan(first[0], first[1] - first[0]);
      };
      for (std::int64_t cz = 0; cz < grid_.block.cells[2]; ++cz)
        for (std::int64_t cy = 0; cy < grid_.block.cells[1]; ++cy)
        {
          const auto y = of_cell(1, pieces[1].middle, cy), z = of_cell(2, pieces[2].middle, cz);
          values_.resize(pieces[0].middle.size() * y.size() * z.size());
          f.tensor_values(pieces[0].middle, y, z, values_.data());
          for (std::int64_t cx = 0; cx < grid_.block.cells[0]; ++cx)
          {
            const std::array<std::span<const double>, 3> parts{of_cell(0, pieces[0].part, cx),
                of_cell(1, pieces[1].part, cy), of_cell(2, pieces[2].part, cz)};
            const auto point = [&](std::size_t i, std::size_t j, std::size_t k) {
              return std::array{pieces[0].middle[pieces[0].first[cx] + i], y[j], z[k]};
            };
            result(cx, cy, cz) = value_of_pieces(f, pieces[0].first[cx], parts, point);
          }
        }
      return result;
    }

    /// Of a cell whose first piece is number `begin` of its row; the values of the row are in values_.
    double value_of_pieces(const ScalarFunction &f, std::size_t begin,
        const std::array<std::span<const double>, 3> &parts, const auto &point) const
    {
      const std::size_t row = values_.size() / (parts[1].size() * parts[2].size());
      const double first = values_[begin];
      double sum = 0.;
      for (std::size_t k = 0; k < parts[2].size(); ++k)
        for (std::size_t j = 0; j < parts[1].size(); ++j)
          for (std::size_t i = 0; i < parts[0].size(); ++i)
          {
            const double value = values_[(k * parts[1].size() + j) * row + begin + i];
            const auto where = [&] { return " at " + point_text(point(i, j, k), problem_.dim); };
            if (!is_usable(value))
              refuse(f, complaint(value) + where());
            if (!takes_mean_ && value != first)
              refuse(f,
                  "is " + number_text(first) + " at " + point_text(point(0, 0, 0), problem_.dim) +
                      " and " + number_text(value) + where() +
                      ", in the same cell (allowed: voxels whose faces are faces of cells, or of one value within each "
                      "cell; or problem.coefficient_in_cell = mean)");
            sum += parts[0][i] * parts[1][j] * parts[2][k] * value;
          }
      return takes_mean_ ? sum : first;
    }

    bool is_usable(double value) const
    {
      return std::isfinite(value) && (is_reaction_ ? value >= 0. : value > 0.);
    }
    std::string complaint(double value) const
    {
      if (!std::isfinite(value))
        return "is infinite or not a number";
      return "is " + number_text(value) + (is_reaction_ ? ", allowed: >= 0," : ", allowed: > 0,");
    }
    [[noreturn]] static void refuse(const ScalarFunction &f, const std::string &reason)
    {
      throw ExpressionError(f.expression(), reason);
    }
    [[noreturn]] void refuse(
        const ScalarFunction &f, const std::string &reason, const Tile &tile, std::int64_t c) const
    {
      const std::array<std::int64_t, 3> cell{tile.cx + c, tile.cy, tile.cz};
      std::array<double, 3> point{};
      for (int d = 0; d < problem_.dim; ++d)
        point[d] = grid_.axis[d].coordinate(grid_.offset[d] + cell[d], 0.5);
      refuse(f, reason + " in the cell at " + point_text(point, problem_.dim));
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

    const Problem &problem_;
    const LevelGrid &grid_;
    TensorRule mean_, middle_, corners_;
    std::string key_;
    bool is_reaction_, takes_mean_;
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

  /// The means of the children by their volumes.
  CellArray coarsened(const CellArray &fine, const LevelGrid &above, const LevelGrid &below)
  {
    std::array<std::int64_t, 3> children{1, 1, 1};
    for (int d = 0; d < above.block.dim; ++d)
      children[d] = above.global_cells[d] / below.global_cells[d];
    const auto mean = [&](std::int64_t cx, std::int64_t cy, std::int64_t cz) {
      double sum = 0., volume = 0.;
      for (std::int64_t z = cz * children[2]; z < (cz + 1) * children[2]; ++z)
        for (std::int64_t y = cy * children[1]; y < (cy + 1) * children[1]; ++y)
          for (std::int64_t x = cx * children[0]; x < (cx + 1) * children[0]; ++x)
          {
            const double of_child = above.relative_volume(x, y, z);
            sum += of_child * fine(x, y, z);
            volume += of_child;
          }
      return sum / volume;
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
          const std::array<std::int64_t, 3> cell{cx, cy, cz};
          std::array<double, 3> c{};
          for (int d = 0; d < dim; ++d)
          {
            const CellArray &k = data.of_direction(d);
            const double own = k(cx, cy, cz),
                         other = k(cx - (d == 0), cy - (d == 1), cz - (d == 2));
            most[3] = std::max({most[3], own / other, other / own});
            const double size = level.axis[d].size(level.offset[d] + cell[d]);
            c[d] = own / (size * size);
          }
          const double least = *std::min_element(c.begin(), c.begin() + dim);
          for (int d = 0; d < dim; ++d)
            most[d] = std::max(most[d], c[d] / least);
        }
    MPI_Allreduce(MPI_IN_PLACE, most.data(), 4, MPI_DOUBLE, MPI_MAX, level.communicator);
    data.strength = {most[0], most[1], most[2]};
    data.largest_jump = most[3];
  }

  double largest_cell(const LevelGrid &level, const CellArray &numbers)
  {
    const Block &block = level.block;
    double largest = 0.;
    for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
          largest = std::max(largest, numbers(cx, cy, cz));
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, level.communicator);
    return largest;
  }

  /// Throws if the reaction and the Robin coefficients, which is_singular() takes for some, are none.
  void check_not_singular(const Grid &grid, const CellData &data)
  {
    const Problem &problem = grid.problem;
    if (problem.is_singular() || problem.has_side(BoundaryKind::dirichlet) || data.largest_r > 0.)
      return;
    if (!data.reaction.empty() && largest_cell(grid.finest(), data.reaction) > 0.)
      return;
    const std::string allowed = " (allowed where no side is dirichlet: > 0 ";
    for (int side = 0; side < 2 * problem.dim; ++side)
      if (problem.boundary[side] == BoundaryKind::robin)
        throw ExpressionError(robin_key(side), problem.robin_coefficient[side],
            "is zero on all faces, as on all robin sides" + allowed +
                "somewhere, or a reaction; or neumann sides)");
    throw ExpressionError("problem.reaction", problem.reaction,
        "is zero in all cells" + allowed + "in some of them, or no reaction)");
  }

  /// Throws if r is so large that rounding leaves nothing of K.
  void check_robin(const Problem &problem, const CellData &data)
  {
    constexpr double most_kappa = 1e12;
    if (!(data.largest_kappa > most_kappa))
      return;
    int side = 0;
    while (problem.boundary[side] != BoundaryKind::robin)
      ++side;
    throw ExpressionError(robin_key(side), problem.robin_coefficient[side],
        "is, as those of all robin sides, up to " + number_text(data.largest_r) + ", which is " +
            number_text(data.largest_kappa) + " K / h (allowed: up to " + number_text(most_kappa) +
            " K / h, or a dirichlet side)");
  }

  CellData finest_data(const Grid &grid, const CellBasis &basis)
  {
    const Problem &problem = grid.problem;
    CellData data;
    CellValues diffusion(grid, basis, "problem.coefficient", false);
    for (int d = 0; d < problem.dim; ++d)
      if (!problem.cell_coefficient[d].empty())
        data.k[d] = diffusion.of(problem.cell_coefficient[d]);
    if (data.k[0].empty())
    {
      data.k[0] = CellArray(grid.finest().block); // of ones
      for (std::int64_t cz = 0; cz < grid.finest().block.cells[2]; ++cz)
        for (std::int64_t cy = 0; cy < grid.finest().block.cells[1]; ++cy)
          for (std::int64_t cx = 0; cx < grid.finest().block.cells[0]; ++cx)
            data.k[0](cx, cy, cz) = problem.coefficient;
    }
    if (!problem.reaction.empty())
      data.reaction = CellValues(grid, basis, "problem.reaction", true).of(problem.reaction);
    data.robin = robin_coefficients(grid, basis);
    return data;
  }

  /// Calls f(), and throws on all ranks if it has thrown on one of them: what the first of these has found.
  void on_all_ranks(MPI_Comm communicator, const auto &f)
  {
    int rank = 0, n_ranks = 1;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &n_ranks);
    std::array<std::string, 3> words;
    int first = n_ranks;
    try
    {
      f();
    }
    catch (const ExpressionError &error)
    {
      words = {error.key(), error.expression(), error.reason()};
      first = rank;
    }
    catch (const std::exception &error) // of a function of the caller's
    {
      words = {"", "", error.what()};
      first = rank;
    }
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, communicator);
    if (first == n_ranks)
      return;
    for (std::string &text : words)
    {
      auto length = static_cast<int>(text.size());
      MPI_Bcast(&length, 1, MPI_INT, first, communicator);
      text.resize(static_cast<std::size_t>(length));
      MPI_Bcast(text.data(), length, MPI_CHAR, first, communicator);
    }
    if (words[0].empty())
      throw std::runtime_error(
          (n_ranks > 1 ? "rank " + std::to_string(first) + ": " : "") + words[2]);
    throw ExpressionError(words[0], words[1], words[2]);
  }
} // namespace

void add_cell_coefficients(Grid &grid, const CellBasis &basis)
{
  if (!grid.problem.is_cellwise())
    return;
  auto data = std::make_shared<CellData>();
  on_all_ranks(grid.communicator, [&] { *data = finest_data(grid, basis); });
  measure_robin(grid.finest(), *data);
  check_robin(grid.problem, *data);
  check_not_singular(grid, *data);
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
    {
      measure(level, *data);
      data->separation = separation_of(level, *data);
    }
    level.cells = data;
    if (l == 0)
      break;
    auto coarser = std::make_shared<CellData>();
    for (const auto &[from, to] :
        {std::pair{&data->k[0], &coarser->k[0]}, {&data->k[1], &coarser->k[1]},
            {&data->k[2], &coarser->k[2]}, {&data->reaction, &coarser->reaction}})
      if (!from->empty())
        *to = coarsened(*from, level, grid.levels[l - 1]);
    coarser->robin = coarser_robin(grid.problem, data->robin, level, grid.levels[l - 1]);
    data = coarser;
  }
}
} // namespace tensormg
