#include "operators/field_output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <functional>
#include <iomanip>
#include <limits>
#include <memory>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <deal.II/base/data_out_base.h>
#include <deal.II/grid/reference_cell.h>

#include "operators/errors.h"
#include "operators/functions.h"
#include "operators/stale_files.h"
#include "operators/tensor_rule.h"

namespace tensormg
{
namespace
{
  /// A file that appears under its name only when it is complete. std::ofstream would lose the
  /// reason of a failure, which this keeps from the first failing system call.
  class OutputFile : private std::streambuf
  {
  public:
    explicit OutputFile(const std::string &path)
      : path_(path)
      , temporary_(path + ".part")
      , buffer_(1 << 20)
      , stream_(this)
    {
      file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
      if (file_ < 0)
        fail(errno);
      setp(buffer_.data(), buffer_.data() + buffer_.size());
    }
    OutputFile(const OutputFile &) = delete;
    OutputFile &operator=(const OutputFile &) = delete;
    ~OutputFile() override
    {
      if (file_ >= 0)
        ::close(file_);
      if (!complete_)
        ::unlink(temporary_.c_str());
    }

    /// Calls write(stream) and gives the file its name. std::system_error if anything fails.
    void write(const std::function<void(std::ostream &)> &write)
    {
      try
      {
        write(stream_);
        stream_.flush();
      }
      catch (...)
      {
        if (error_ != 0)
          fail(error_);
        throw;
      }
      if (error_ != 0)
        fail(error_);
      if (::close(std::exchange(file_, -1)) != 0)
        fail(errno);
      if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
        fail(errno);
      complete_ = true;
    }

  private:
    int overflow(int character) override
    {
      const char *begin = pbase();
      while (begin != pptr())
      {
        const ssize_t written = ::write(file_, begin, pptr() - begin);
        if (written < 0 && errno == EINTR)
          continue;
        if (written < 0)
        {
          if (error_ == 0)
            error_ = errno;
          return traits_type::eof();
        }
        begin += written;
      }
      setp(buffer_.data(), buffer_.data() + buffer_.size());
      if (!traits_type::eq_int_type(character, traits_type::eof()))
        sputc(traits_type::to_char_type(character));
      return traits_type::not_eof(character);
    }
    int sync() override { return overflow(traits_type::eof()) == traits_type::eof() ? -1 : 0; }

    [[noreturn]] void fail(int error) const
    {
      throw std::system_error(error, std::generic_category(), "cannot write " + path_);
    }

    std::string path_;
    std::string temporary_;
    std::vector<char> buffer_;
    std::ostream stream_;
    int file_ = -1;
    int error_ = 0;
    bool complete_ = false;
  };

  /// One field at the points of a tile.
  struct Field
  {
    std::string name;
    std::function<void(const Tile &, std::vector<double> &)> values;
  };

  /// The cells of a block as deal.II's writer wants them. No Triangulation is built: that would
  /// cost far more memory than the patches and number the degrees of freedom in 32 bits.
  template <int dim>
  class BlockOutput : public dealii::DataOutInterface<dim>
  {
  public:
    using Patch = dealii::DataOutBase::Patch<dim, dim>;

    BlockOutput(
        const LevelGrid &grid, const TensorRule &rule, int degree, const std::vector<Field> &fields)
      : patches_(grid.block.n_cells())
    {
      for (const Field &field : fields)
        names_.push_back(field.name);
      const int n_points = rule[0].n_points() * rule[1].n_points() * rule[2].n_points();
      const auto number = [&](const Tile &tile) {
        return (tile.cz * grid.block.cells[1] + tile.cy) * grid.block.cells[0] + tile.cx;
      };
      std::vector<double> values;
      for_each_tile(all_cells(grid.block), rule, [&](const Tile &tile) {
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
    FieldWriter(const Grid &grid, const CellBasis &basis, const Vector<double> &u)
      : grid_(grid.finest())
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
    void write_piece(const std::string &path, bool high_order)
    {
      OutputFile file(path); // first, so that a wrong path costs nothing
      BlockOutput<dim> output(grid_, rule_, problem_.degree, fields());
      output.set_flags(vtk_flags(high_order));
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

std::optional<std::string> refuse_output(const Grid &grid, const FieldOutputOptions &options)
{
  const Problem &problem = grid.problem;
  const LevelGrid &level = grid.finest();
  const std::int64_t cells = level.global_cells[0] * level.global_cells[1] * level.global_cells[2];
  const double points = static_cast<double>(level.global_dofs());
  std::ostringstream reason;
  reason << "a file with " << cells << " cells of degree " << problem.degree << " (about "
         << std::fixed << std::setprecision(1) << points * 4. * (3. + 4.) / (1 << 30)
         << " GiB) is not written: ";
  if (cells > options.max_cells)
  {
    reason << "the limit is " << options.max_cells << " cells; raise it or refine less";
    return reason.str();
  }
  // The writer numbers points and subdivided cells of a piece with 32 bits.
  const int pieces = level.replicated ? 1 : grid.n_ranks;
  if (points / pieces > 0.5 * std::numeric_limits<std::int32_t>::max())
  {
    reason << "it has too many points for one file per rank; use more ranks";
    return reason.str();
  }
  return std::nullopt;
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
      const std::string &base, bool high_order)
  {
    FieldWriter<dim> writer(grid, basis, u);
    // Ranks with copies of the same cells leave the writing to the first one.
    const int n_pieces = grid.finest().replicated ? 1 : grid.n_ranks;
    if (n_pieces == 1)
    {
      std::string path = base + ".vtu";
      run_together(grid, grid.rank == 0, path, [&] {
        writer.write_piece(path, high_order);
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
    run_together(grid, true, path, [&] { writer.write_piece(pieces[grid.rank], high_order); });
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
  return grid.problem.dim == 2 ? write_files<2>(grid, basis, u, base, options.high_order)
                               : write_files<3>(grid, basis, u, base, options.high_order);
}
} // namespace tensormg
