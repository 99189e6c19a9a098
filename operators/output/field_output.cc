#include "operators/output/field_output.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <limits>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "operators/output/field_writer.h"
#include "operators/output/pieces.h"

namespace tensormg
{
namespace
{
  /// Of the whole grid; z counts one layer in 2D.
  CellRange cells_inside(const LevelGrid &grid, const FieldOutputOptions &options)
  {
    constexpr double rounding = 1e-9;
    CellRange range;
    for (std::size_t d = 0; d < 3; ++d)
    {
      const auto position = [&](double x) {
        return std::clamp(grid.axis[d].place(x), 0., static_cast<double>(grid.global_cells[d]));
      };
      const bool is_direction = d < static_cast<std::size_t>(grid.block.dim);
      range.begin[d] = is_direction
          ? static_cast<std::int64_t>(std::floor(position(options.lower[d]) + rounding))
          : 0;
      range.end[d] = is_direction
          ? static_cast<std::int64_t>(std::ceil(position(options.upper[d]) - rounding))
          : 1;
    }
    return range;
  }

  /// Those of them that this rank has, which may be none.
  CellRange local_part(const CellRange &range, const LevelGrid &grid)
  {
    CellRange local = all_cells(grid.block);
    for (std::size_t d = 0; d < 3; ++d)
    {
      local.begin[d] = std::max(range.begin[d] - grid.offset[d], std::int64_t(0));
      local.end[d] =
          std::max(std::min(range.end[d] - grid.offset[d], local.end[d]), local.begin[d]);
    }
    return local;
  }

  /// Coordinates, fields (in single precision unless all are in double), the point's number in a cell.
  double bytes_per_point(const Problem &problem, const FieldOutputOptions &options)
  {
    const int vectors = (options.gradient ? 1 : 0) + (options.flux ? 1 : 0);
    const int n_numbers = (problem.exact_solution.empty() ? 2 : 4) + 3 * vectors;
    const auto bytes = static_cast<double>(options.in_double ? sizeof(double) : sizeof(float));
    return 3. * sizeof(double) + n_numbers * bytes + sizeof(std::int32_t);
  }
} // namespace

std::int64_t n_output_cells(const Grid &grid, const FieldOutputOptions &options)
{
  return n_cells(cells_inside(grid.finest(), options));
}

std::optional<std::string> refuse_output(const Grid &grid, const FieldOutputOptions &options)
{
  const Problem &problem = grid.problem;
  const LevelGrid &level = grid.finest();
  const std::int64_t cells = n_output_cells(grid, options);
  const double points = static_cast<double>(cells) * std::pow(problem.degree + 1, problem.dim);
  std::ostringstream reason;
  reason << "a file with " << cells << " cells of degree " << problem.degree << " (about "
         << std::fixed << std::setprecision(1)
         << points * bytes_per_point(problem, options) / (1 << 30)
         << " GiB before compression) is not written: ";
  if (cells > options.max_cells)
  {
    reason << "the limit is " << options.max_cells
           << " cells; raise it, refine less, or write a part of the box";
    return reason.str();
  }
  // The writer numbers points and subdivided cells of a piece with 32 bits. Of a part of the box, one rank may have all.
  const bool is_whole = points == static_cast<double>(level.global_dofs());
  const int pieces = level.replicated || !is_whole ? 1 : grid.n_ranks;
  if (points / pieces > 0.5 * std::numeric_limits<std::int32_t>::max())
  {
    reason << "it has too many points for one file per rank; use more ranks";
    return reason.str();
  }
  return std::nullopt;
}

Grid needed_for_output(const Grid &grid, const FieldOutputOptions &options)
{
  Grid result = grid;
  const CellRange cells = cells_inside(grid.finest(), options);
  const bool takes_mean = grid.problem.is_singular() && !grid.problem.exact_solution.empty();
  if (takes_mean || n_cells(cells) == 0 || grid.finest().communicator != MPI_COMM_SELF)
    return result;
  LevelGrid &level = result.levels.back();
  std::array<std::int64_t, 3> size = level.block.cells;
  for (std::size_t d = 1; d < 3; ++d)
  {
    level.offset[d] = cells.begin[d];
    size[d] = cells.end[d] - cells.begin[d];
  }
  level.block = Block(level.block.dim, level.block.degree(), size);
  return result;
}

namespace
{
  /// STEM.0007.vtu
  std::string piece_name(const std::string &base, int rank)
  {
    std::ostringstream name;
    name << base << '.' << std::setw(4) << std::setfill('0') << rank << ".vtu";
    return name.str();
  }

  /// Ranks with copies of the same cells leave the writing to the first one.
  int count_pieces(const Grid &grid) { return grid.finest().replicated ? 1 : grid.n_ranks; }
} // namespace

std::vector<std::string> field_files(int n_pieces, const std::string &base)
{
  if (n_pieces == 1)
    return {base + ".vtu"};
  std::vector<std::string> files{base + ".pvtu"};
  for (int rank = 0; rank < n_pieces; ++rank)
    files.push_back(piece_name(base, rank));
  return files;
}

std::vector<std::string> field_files(const Grid &grid, const std::string &base)
{
  return field_files(count_pieces(grid), base);
}

FieldOutput write_field_output(const Grid &grid, const CellBasis &basis, const Vector<double> &u,
    const std::string &base, const FieldOutputOptions &options)
{
  if (const std::optional<std::string> reason = refuse_output(grid, options))
    throw std::invalid_argument(*reason);
  FieldWriter writer(
      grid, basis, u, local_part(cells_inside(grid.finest(), options), grid.finest()), options);
  return write_in_pieces(writer, grid.communicator, count_pieces(grid), base);
}
} // namespace tensormg
