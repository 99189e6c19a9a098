#include "apps/output.h"

#include <cerrno>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <unistd.h>

#include "operators/field_output.h"

namespace tensormg
{
namespace
{
  std::string system_message(int error) { return std::generic_category().message(error); }

  /// A string of rank 0 on every rank.
  std::string from_first_rank(std::string text, MPI_Comm communicator)
  {
    int length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, communicator);
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, 0, communicator);
    return text;
  }

  /// What went wrong in `action` on rank 0; empty if nothing did.
  std::string complaint_of_first_rank(MPI_Comm communicator, const std::function<void()> &action)
  {
    int rank = 0;
    MPI_Comm_rank(communicator, &rank);
    std::string complaint;
    if (rank == 0)
      try
      {
        action();
      }
      catch (const std::exception &error)
      {
        complaint = error.what();
      }
    return from_first_rank(complaint, communicator);
  }

  /// A name beside `file` that no other process uses.
  std::filesystem::path temporary_name(const std::filesystem::path &file)
  {
    return file.string() + ".tmp" + std::to_string(::getpid());
  }
} // namespace

void on_first_rank(MPI_Comm communicator, const std::function<void()> &action)
{
  const std::string complaint = complaint_of_first_rank(communicator, action);
  if (!complaint.empty())
    throw std::runtime_error(complaint);
}

void write_file(const std::filesystem::path &file, const std::string &content)
{
  const std::filesystem::path temporary = temporary_name(file);
  std::error_code ignored;
  errno = 0;
  std::ofstream stream(temporary, std::ios::binary);
  stream << content;
  stream.close();
  if (!stream)
  {
    const std::string reason = system_message(errno != 0 ? errno : EIO);
    std::filesystem::remove(temporary, ignored);
    throw std::runtime_error(file.string() + ": cannot be written (" + reason + ")");
  }
  std::error_code error;
  std::filesystem::rename(temporary, file, error);
  if (error)
  {
    std::filesystem::remove(temporary, ignored);
    throw std::runtime_error(file.string() + ": cannot be written (" + error.message() + ")");
  }
}

void prepare_directory(const std::filesystem::path &directory, MPI_Comm communicator)
{
  const std::string complaint = complaint_of_first_rank(communicator, [&] {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error)
      throw std::runtime_error("cannot be created (" + error.message() + ")");
    if (!std::filesystem::is_directory(directory))
      throw std::runtime_error("is not a directory");
    const std::filesystem::path probe = temporary_name(directory / "probe");
    errno = 0;
    const bool written = static_cast<bool>(std::ofstream(probe) << "test" << std::flush);
    const int reason = errno != 0 ? errno : EIO;
    std::filesystem::remove(probe, error);
    if (!written)
      throw std::runtime_error("cannot be written to (" + system_message(reason) + ")");
  });
  if (!complaint.empty())
    throw ParameterError("output.directory = '" + directory.string() + "' " + complaint +
        "; allowed: a directory that can be created and written to");
}

TableFiles::TableFiles(const std::filesystem::path &directory, const std::string &name)
  : csv(directory / (name + ".csv"))
  , json(directory / (name + ".json"))
{}

void TableFiles::write(MPI_Comm communicator, const Write &write_csv, const Write &write_json) const
{
  on_first_rank(communicator, [&] {
    std::ostringstream text;
    write_csv(text);
    write_file(csv, text.str());
    text.str("");
    write_json(text);
    write_file(json, text.str());
  });
}

std::string TableFiles::text() const
{
  return "\nfiles        " + csv.string() + ", " + json.string() + '\n';
}

void forget_record(const std::filesystem::path &directory, MPI_Comm communicator)
{
  on_first_rank(communicator, [&] { std::filesystem::remove(directory / "run.json"); });
}

void write_record(RunRecord &record, MPI_Comm communicator)
{
  const std::filesystem::path directory = record.parameters.output.directory;
  const std::filesystem::path json = directory / "run.json", csv = directory / "residuals.csv",
                              parameters = directory / "parameters.prm";
  for (const std::filesystem::path &file : {json, csv, parameters})
    record.files.push_back(file.string());
  on_first_rank(communicator, [&] {
    std::ostringstream text;
    write_residuals_csv(record, text);
    write_file(csv, text.str());
    text.str("");
    print_parameters(record.parameters, text);
    write_file(parameters, text.str());
    // Last, so that a run.json is a sign that all is there.
    text.str("");
    write_run_json(record, text);
    write_file(json, text.str());
  });
}

Grid grid_of_output(const Grid &grid, const OutputOptions &output)
{
  Grid result = grid;
  for (int i = 0; i < output.vtu_coarsening && result.levels.size() > 1; ++i)
  {
    result.levels.pop_back();
    --result.problem.refinements;
  }
  return result;
}

Grid part_of_output(const Grid &grid, const OutputOptions &output)
{
  return needed_for_output(grid_of_output(grid, output), field_options(output));
}

FieldOutputOptions field_options(const OutputOptions &output)
{
  FieldOutputOptions options;
  options.high_order = output.vtu_cells == VtuCells::high_order;
  options.max_cells = output.vtu_max_cells;
  options.lower = output.vtu_lower.value_or(options.lower);
  options.upper = output.vtu_upper.value_or(options.upper);
  return options;
}

std::vector<std::string> write_field(const OutputOptions &output, const Grid &grid,
    const CellBasis &basis, const Vector<double> &u, Console &console)
{
  const FieldOutputOptions options = field_options(output);
  if (const std::optional<std::string> reason = refuse_output(grid, options))
  {
    console.warning(
        "no field output (output.vtu_max_cells = " + std::to_string(output.vtu_max_cells) +
        "): " + *reason + "; output.vtu_coarsening = " + std::to_string(output.vtu_coarsening + 1) +
        " would write a coarser grid");
    return {};
  }
  const std::filesystem::path base = std::filesystem::path(output.directory) / output.name;
  return {write_field_output(grid, basis, u, base.string(), options).path};
}
} // namespace tensormg
