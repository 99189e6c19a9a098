#include "operators/field_output.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <functional>
#include <iomanip>
#include <limits>
#include <memory>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <mpi.h>

#include <deal.II/base/data_out_base.h>
#include <deal.II/grid/reference_cell.h>

#include "operators/errors.h"
#include "operators/functions.h"
#include "operators/output_file.h"
#include "operators/stale_files.h"
#include "operators/tensor_rule.h"

namespace tensormg
{
namespace
{
  /// One field at the points of a tile.
  struct Field
  {
    std::string name;
    std::function<void(const Tile &, std::vector<double> &)> values;
  };

  /// Of the whole grid; z counts one layer in 2D.
  CellRange cells_inside(const LevelGrid &grid, const FieldOutputOptions &options)
  {
    constexpr double rounding = 1e-9;
    CellRange range;
    for (std::size_t d = 0; d < 3; ++d)
    {
      const auto position = [&](double x) {
        const double cells = (x - grid.lower[d]) / grid.cell_size[d];
        return std::clamp(cells, 0., static_cast<double>(grid.global_cells[d]));
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

  std::int64_t count(const CellRange &range)
  {
    std::int64_t cells = 1;
    for (std::size_t d = 0; d < 3; ++d)
      cells *= std::max(range.end[d] - range.begin[d], std::int64_t(0));
    return cells;
  }

  /// The cells of a block as deal.II's writer wants them. No Triangulation is built: that would
  /// cost far more memory than the patches and number the degrees of freedom in 32 bits.
  template <int dim>
  class BlockOutput : public dealii::DataOutInterface<dim>
  {
  public:
    using Patch = dealii::DataOutBase::Patch<dim, dim>;

    BlockOutput(const LevelGrid &grid, const CellRange &cells, const TensorRule &rule, int degree,
        const std::vector<Field> &fields)
      : patches_(count(cells))
    {
      for (const Field &field : fields)
        names_.push_back(field.name);
      const int n_points = rule[0].n_points() * rule[1].n_points() * rule[2].n_points();
      const auto number = [&](const Tile &tile) {
        const std::int64_t rows = cells.end[1] - cells.begin[1];
        return ((tile.cz - cells.begin[2]) * rows + tile.cy - cells.begin[1]) *
            (cells.end[0] - cells.begin[0]) +
            tile.cx - cells.begin[0];
      };
      std::vector<double> values;
      for_each_tile(cells, rule, [&](const Tile &tile) {
        for (std::int64_t c = 0; c < tile.count; ++c)
        {
          Patch &patch = patches_[number(tile) + c];
          patch.patch_index = static_cast<unsigned int>(number(tile) + c);
          patch.n_subdivisions = degree;
          patch.reference_cell = dealii::ReferenceCells::get_hypercube<dim>();
          set_vertices(grid, {tile.cx + c, tile.cy, tile.cz}, patch);
          patch.data.reinit(fields.size(), n_points);
        }
        for (std::size_t f = 0; f < fields.size(); ++f)
        {
          fields[f].values(tile, values);
          for (int q = 0; q < n_points; ++q)
            for (std::int64_t c = 0; c < tile.count; ++c)
              patches_[number(tile) + c].data(f, q) =
                  static_cast<float>(values[q * tile.count + c]);
        }
      });
    }

  private:
    static void set_vertices(
        const LevelGrid &grid, const std::array<std::int64_t, 3> &cell, Patch &patch)
    {
      for (unsigned int v = 0; v < (1u << dim); ++v)
        for (int d = 0; d < dim; ++d)
          patch.vertices[v][d] = grid.lower[d] +
              static_cast<double>(grid.offset[d] + cell[d] + (v >> d & 1u)) * grid.cell_size[d];
    }

    const std::vector<Patch> &get_patches() const override { return patches_; }
    std::vector<std::string> get_dataset_names() const override { return names_; }

    std::vector<Patch> patches_;
    std::vector<std::string> names_;
  };

  dealii::DataOutBase::VtkFlags vtk_flags(bool high_order)
  {
    dealii::DataOutBase::VtkFlags flags;
    flags.print_date_and_time = false; // the same solution gives the same file
#if DEAL_II_VERSION_GTE(9, 5, 0)
    flags.compression_level = dealii::DataOutBase::CompressionLevel::best_speed;
#else
    flags.compression_level = dealii::DataOutBase::VtkFlags::best_speed;
#endif
    flags.write_higher_order_cells = high_order;
    return flags;
  }

  /// deal.II 9.4 writes the date into the record whatever the flags say.
  std::string without_date(std::string record)
  {
    const std::string before = "generated by the deal.II library";
    if (const std::size_t begin = record.find(before + " on "); begin != std::string::npos)
    {
      const std::size_t date = begin + before.size();
      record.erase(date, record.find('\n', date) - date);
    }
    return record;
  }

  /// What is written for one solution.
  template <int dim>
  class FieldWriter
  {
  public:
    FieldWriter(const Grid &grid, const CellBasis &basis, const Vector<double> &u,
        const FieldOutputOptions &options)
      : grid_(grid.finest())
      , cells_(local_part(cells_inside(grid_, options), grid_))
      , high_order_(options.high_order)
      , problem_(grid.problem)
      , rule_(tensor_rule(u.block(), equidistant_rule(basis)))
      , rank_(grid_.replicated ? 0 : grid.rank)
      , u_(u)
    {
      if (!problem_.exact_solution.empty())
      {
        exact_ = std::make_unique<ScalarFunction>(problem_.exact_solution, dim, problem_.constants);
        shift_ = mean_difference(problem_, grid_, basis, u);
      }
    }

    /// This rank's cells.
    void write_piece(const std::string &path)
    {
      OutputFile file(path); // first, so that a wrong path costs nothing
      BlockOutput<dim> output(grid_, cells_, rule_, problem_.degree, fields());
      output.set_flags(vtk_flags(high_order_));
      file.write([&](std::ostream &stream) { output.write_vtu(stream); });
    }

    /// The file that makes one data set of the pieces, which it names relative to its own folder.
    void write_record(const std::string &path, std::vector<std::string> pieces)
    {
      for (std::string &piece : pieces)
        piece.erase(0, piece.find_last_of('/') + 1);
      std::vector<std::string> names;
      for (const Field &field : fields())
        names.push_back(field.name);
      std::ostringstream record;
      dealii::DataOutBase::write_pvtu_record(record, pieces, names, {}, vtk_flags(true));
      OutputFile(path).write(
          [&](std::ostream &stream) { stream << without_date(std::move(record).str()); });
    }

  private:
    static LineRule equidistant_rule(const CellBasis &basis)
    {
      std::vector<double> points(basis.n);
      for (int q = 0; q < basis.n; ++q)
        points[q] = static_cast<double>(q) / (basis.n - 1);
      return point_rule(basis, points);
    }

    std::vector<Field> fields()
    {
      const auto exact_values = [this](const Tile &tile, std::vector<double> &values) {
        points_.set(grid_, rule_, tile);
        points_.evaluate(*exact_, values);
      };
      std::vector<Field> fields;
      fields.push_back({"u", [this](const Tile &tile, std::vector<double> &values) {
                          evaluator_.evaluate(u_, rule_, tile, -1, values);
                        }});
      if (exact_)
      {
        fields.push_back({"exact", exact_values});
        fields.push_back(
            {"error", [this, exact_values](const Tile &tile, std::vector<double> &values) {
               evaluator_.evaluate(u_, rule_, tile, -1, values);
               exact_values(tile, other_);
               for (std::size_t q = 0; q < values.size(); ++q)
                 values[q] -= other_[q] + shift_;
             }});
      }
      fields.push_back({"rank", [this](const Tile &, std::vector<double> &values) {
                          std::fill(values.begin(), values.end(), rank_);
                        }});
      return fields;
    }

    const LevelGrid &grid_;
    CellRange cells_;
    bool high_order_;
    const Problem &problem_;
    TensorRule rule_;
    int rank_;
    const Vector<double> &u_;
    std::unique_ptr<const ScalarFunction> exact_;
    double shift_ = 0.;
    TileEvaluator evaluator_;
    TilePoints points_;
    std::vector<double> other_;
  };
} // namespace

std::int64_t n_output_cells(const Grid &grid, const FieldOutputOptions &options)
{
  return count(cells_inside(grid.finest(), options));
}

std::optional<std::string> refuse_output(const Grid &grid, const FieldOutputOptions &options)
{
  const Problem &problem = grid.problem;
  const LevelGrid &level = grid.finest();
  const std::int64_t cells = n_output_cells(grid, options);
  const double points = static_cast<double>(cells) * std::pow(problem.degree + 1, problem.dim);
  std::ostringstream reason;
  reason << "a file with " << cells << " cells of degree " << problem.degree << " (about "
         << std::fixed << std::setprecision(1) << points * 4. * (3. + 4.) / (1 << 30)
         << " GiB) is not written: ";
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
  if (takes_mean || count(cells) == 0)
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
  /// Runs `action` if `active`, and afterwards throws on all ranks if it has thrown on one of them.
  void run_together(
      const Grid &grid, bool active, const std::string &path, const std::function<void()> &action)
  {
    std::exception_ptr failure;
    try
    {
      if (active)
        action();
    }
    catch (...)
    {
      failure = std::current_exception();
    }
    int failed_rank = failure ? grid.rank : grid.n_ranks;
    MPI_Allreduce(MPI_IN_PLACE, &failed_rank, 1, MPI_INT, MPI_MIN, grid.communicator);
    if (failure)
      std::rethrow_exception(failure);
    if (failed_rank < grid.n_ranks)
      throw std::runtime_error(
          "rank " + std::to_string(failed_rank) + " could not write its part of " + path);
  }

  template <int dim>
  std::string write_files(const Grid &grid, const CellBasis &basis, const Vector<double> &u,
      const std::string &base, const FieldOutputOptions &options)
  {
    FieldWriter<dim> writer(grid, basis, u, options);
    // Ranks with copies of the same cells leave the writing to the first one.
    const int n_pieces = grid.finest().replicated ? 1 : grid.n_ranks;
    if (n_pieces == 1)
    {
      std::string path = base + ".vtu";
      run_together(grid, grid.rank == 0, path, [&] {
        writer.write_piece(path);
        remove_stale_files(base, n_pieces);
      });
      return path;
    }
    std::vector<std::string> pieces;
    for (int rank = 0; rank < n_pieces; ++rank)
    {
      std::ostringstream name;
      name << base << '.' << std::setw(4) << std::setfill('0') << rank << ".vtu";
      pieces.push_back(name.str());
    }
    std::string path = base + ".pvtu";
    run_together(grid, true, path, [&] { writer.write_piece(pieces[grid.rank]); });
    // Only now, so that a record never refers to pieces that are not there.
    run_together(grid, grid.rank == 0, path, [&] {
      writer.write_record(path, pieces);
      remove_stale_files(base, n_pieces);
    });
    return path;
  }
} // namespace

std::string write_field_output(const Grid &grid, const CellBasis &basis, const Vector<double> &u,
    const std::string &base, const FieldOutputOptions &options)
{
  if (const std::optional<std::string> reason = refuse_output(grid, options))
    throw std::invalid_argument(*reason);
  return grid.problem.dim == 2 ? write_files<2>(grid, basis, u, base, options)
                               : write_files<3>(grid, basis, u, base, options);
}
} // namespace tensormg
