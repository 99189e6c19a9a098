// Files: the output directory, and what a solve writes into it.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include <mpi.h>

#include "apps/console.h"
#include "apps/run_record.h"
#include "kernels/basis/cell_basis.h"
#include "operators/field_output.h"
#include "operators/grid.h"
#include "operators/vector.h"

namespace tensormg
{
/// Creates the directory and those above it, and writes a file into it for a test. Throws
/// ParameterError on every rank if that is impossible. Collective.
void prepare_directory(const std::filesystem::path &directory, MPI_Comm communicator);

/// Puts `content` into a file under a temporary name, which then becomes the file's: nobody ever
/// sees half of it. Throws std::runtime_error with the path and the system's reason.
void write_file(const std::filesystem::path &file, const std::string &content);

/// Calls `action` on rank 0; an exception there becomes a std::runtime_error on every rank.
/// Collective.
void on_first_rank(MPI_Comm communicator, const std::function<void()> &action);

/// NAME.csv and NAME.json in a directory: a table as it is read by programs and, with all else, by people.
struct TableFiles
{
  using Write = std::function<void(std::ostream &)>;
  std::filesystem::path csv, json;

  TableFiles(const std::filesystem::path &directory, const std::string &name);
  /// What these functions write, on rank 0. Collective.
  void write(MPI_Comm communicator, const Write &write_csv, const Write &write_json) const;
  /// Where they are, as a line for the user.
  std::string text() const;
};

/// Removes the run.json of an earlier run: whatever stops this one, its record shall not pass for
/// this one's. Collective.
void forget_record(const std::filesystem::path &directory, MPI_Comm communicator);

/// Writes run.json, residuals.csv and parameters.prm and adds them to record.files. Collective.
void write_record(RunRecord &record, MPI_Comm communicator);

/// The levels down to the one that output.vtu_coarsening chooses, which is the finest of the result.
Grid grid_of_output(const Grid &grid, const OutputOptions &output);

/// That grid without the rows of cells that no file has values of, for one rank.
Grid part_of_output(const Grid &grid, const OutputOptions &output);

/// How the solution on that grid is written.
FieldOutputOptions field_options(const OutputOptions &output);

/// Writes the field u for ParaView and returns the files. A grid that is too large gives a warning
/// and no files. Collective.
std::vector<std::string> write_field(const OutputOptions &output, const Grid &grid,
    const CellBasis &basis, const Vector<double> &u, Console &console);
} // namespace tensormg
