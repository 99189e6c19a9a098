#include "apps/common/output.h"

#include <array>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "apps/parameters/text.h"
#include "operators/output/field_output.h"
#include "operators/output/output_file.h"
#include "operators/output/stale_files.h"

namespace tensormg
{
namespace
{
  constexpr std::array<const char *, 3> record_files{"residuals.csv", "parameters.prm", "run.json"};
} // namespace

void write_file(const std::filesystem::path &file, const std::string &content)
{
  OutputFile(file.string()).write([&](std::ostream &out) { out << content; });
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
  const std::filesystem::path csv = directory / record_files[0],
                              parameters = directory / record_files[1],
                              json = directory / record_files[2];
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
  options.field = {output.field_name, output.field_unit};
  options.in_double = output.vtu_precision == VtuPrecision::double_precision;
  options.gradient = output.gradient;
  options.flux = output.flux;
  options.high_order = output.vtu_cells == VtuCells::high_order;
  options.max_cells = output.vtu_max_cells;
  options.lower = output.vtu_lower.value_or(options.lower);
  options.upper = output.vtu_upper.value_or(options.upper);
  return options;
}

std::string field_base(const OutputOptions &output, bool converged)
{
  const std::string stem = output.name + (converged ? "" : "_not_converged");
  return (std::filesystem::path(output.directory) / stem).string();
}

bool has_no_field(const OutputOptions &output, const Grid &grid)
{
  return !output.write_vtu || refuse_output(grid, field_options(output)).has_value();
}

void check_output(const OutputOptions &output, const Grid &grid, Console &console)
{
  const std::string complaint = complaint_of_first_rank(grid.communicator, [&] {
    for (const char *name : record_files)
      if (const std::string trouble =
              trouble_with_file(std::filesystem::path(output.directory) / name);
          !trouble.empty())
        throw std::runtime_error("output.directory = '" + output.directory + "': its file " + name +
            " cannot be written (" + trouble + ")");
    if (has_no_field(output, grid))
      return;
    for (const bool converged : {true, false})
      for (const std::string &file : field_files(grid, field_base(output, converged)))
        if (const std::string trouble = trouble_with_file(file); !trouble.empty())
          throw std::runtime_error("output.name = '" + cut(output.name) + "': the file " +
              cut(std::filesystem::path(file).filename().string()) + " cannot be written (" +
              trouble + "); allowed: a name that the file system takes, also with the endings " +
              "_not_converged and .vtu, and that no directory has; or output.write_vtu = false");
  });
  if (!complaint.empty())
    throw ParameterError(complaint);
  if (!output.write_vtu)
    return;
  if (const std::optional<std::string> reason = refuse_output(grid, field_options(output)))
    console.warning("the solution will not be written for ParaView (output.vtu_max_cells = " +
        std::to_string(output.vtu_max_cells) + "): " + *reason +
        "; output.vtu_coarsening = " + std::to_string(output.vtu_coarsening + 1) +
        " would write a coarser grid, output.write_vtu = false asks for none");
}

namespace
{
  /// The files of a field that is not of this run.
  void warn_of_other_fields(const OutputOptions &output, const Grid &grid, Console &console)
  {
    const std::string found = complaint_of_first_rank(grid.communicator, [&] {
      for (const bool converged : {true, false})
        for (const auto &file : find_field_files(field_base(output, converged), 0))
          throw std::runtime_error(file.string());
    });
    if (!found.empty())
      console.warning(found + " is of an earlier run: this one writes no field");
  }
} // namespace

void write_field(RunRecord &record, const Grid &grid, const CellBasis &basis,
    const Vector<double> &u, Console &console)
{
  const OutputOptions &output = record.parameters.output;
  const bool converged = record.report.converged();
  if (has_no_field(output, grid) || record.report.reason == StopReason::not_finite)
  {
    warn_of_other_fields(output, grid, console);
    return;
  }
  FieldOutputOptions options = field_options(output);
  options.converged = converged;
  const FieldOutput written =
      write_field_output(grid, basis, u, field_base(output, converged), options);
  record.files.push_back(written.path);
  on_first_rank(grid.communicator, [&] { remove_stale_files(field_base(output, !converged), 0); });
  if (!written.in_double.empty())
    console.normal("fields       " + join(written.in_double, ", ") +
        " in double precision, since single would not show the values\n");
}
} // namespace tensormg
