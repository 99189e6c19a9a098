// Files: what a solve writes into the output directory.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include <mpi.h>

#include "apps/common/console.h"
#include "apps/common/output_directory.h"
#include "apps/common/run_record.h"
#include "kernels/basis/cell_basis.h"
#include "operators/mesh/grid.h"
#include "operators/output/field_output.h"
#include "operators/output/output_file.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// Puts `content` into a file under a temporary name, which then becomes the file's: nobody ever
/// sees half of it. Throws std::system_error with the path and the system's reason.
void write_file(const std::filesystem::path &file, const std::string &content);

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

/// Writes run.json, residuals.csv and parameters.prm and adds them, and a log file beside them, to record.files. Collective.
void write_record(RunRecord &record, MPI_Comm communicator);

/// The levels down to the one that output.vtu_coarsening chooses, which is the finest of the result.
Grid grid_of_output(const Grid &grid, const OutputOptions &output);

/// That grid without the rows of cells of which the output needs no values, for one rank.
Grid part_of_output(const Grid &grid, const OutputOptions &output);

/// How the solution on that grid is written.
FieldOutputOptions field_options(const OutputOptions &output);

/// The files of a field: output.name, and if the solve has not converged, what says so: nobody shall take it for a
/// solution.
std::string field_base(const OutputOptions &output, bool converged);

using TroubleWithFile = std::function<std::string(const std::filesystem::path &)>;

/// Before the solve: what could not be written after it. Throws ParameterError if a file of this run cannot get its
/// name; a field that will not be written because it is too large is a warning. `grid`: the one of the output. `trouble`
/// says, on rank 0, why a file could not be written; empty if it could. Collective.
void check_output(const OutputOptions &output, const Grid &grid, Console &console,
    const TroubleWithFile &trouble = trouble_with_file);

/// Whether no output needs the solution: check_output() has warned that it is too large for ParaView, or it is not asked
/// for, and nothing else that is made of it is.
bool has_no_field(const OutputOptions &output, const Grid &grid);

/// Puts the numbers about the solution u into the record, if u is on the finest level of `grid` and the solve has one.
/// Collective.
void measure_solution(
    RunRecord &record, const Grid &grid, const CellBasis &basis, const Vector<double> &u);

/// Writes the field u as it is asked for, as an array and for ParaView, and adds the files to record.files; warns of those
/// of another run that stay there. Collective.
void write_field(RunRecord &record, const Grid &grid, const CellBasis &basis,
    const Vector<double> &u, Console &console);

/// Writes the values of output.probe_lines, a file for each line, and adds them to record.files. Those of further lines of earlier runs are removed. Collective.
void write_probe_lines(RunRecord &record, MPI_Comm communicator, Console &console);

/// The files that a run would write: into the record and, if none stands against them, on the console.
void foresee_files(const Grid &written, RunRecord &record, Console &console);
} // namespace tensormg
