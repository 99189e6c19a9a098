#include "apps/common/output.h"

#include <array>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "apps/common/report.h"
#include "apps/parameters/field_description.h"
#include "apps/parameters/text.h"
#include "operators/output/field_output.h"
#include "operators/output/nodal_file.h"
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
  // Of the runs of a study it lies elsewhere.
  const std::string &log = record.parameters.output.log_file;
  std::error_code unknown;
  if (!log.empty() && std::filesystem::exists(directory / log, unknown))
    record.files.push_back((directory / log).string());
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

namespace
{
  /// Whether something is made of the solution on the whole finest grid.
  bool needs_everything(const OutputOptions &output)
  {
    return output.write_npy || !output.probes.empty() || !output.probe_lines.empty();
  }

  bool has_no_vtu(const OutputOptions &output, const Grid &grid)
  {
    return !output.write_vtu || refuse_output(grid, field_options(output)).has_value();
  }

  /// The array, and its description.
  std::array<std::string, 2> array_files(const OutputOptions &output, bool converged)
  {
    const std::string base = field_base(output, converged);
    return {base + ".npy", base + ".json"};
  }

  std::string line_file(const OutputOptions &output, bool converged, std::size_t line)
  {
    return field_base(output, converged) + "_line_" + std::to_string(line + 1) + ".csv";
  }
} // namespace

Grid part_of_output(const Grid &grid, const OutputOptions &output)
{
  if (needs_everything(output))
    return grid_of_output(grid, output);
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

void measure_solution(
    RunRecord &record, const Grid &grid, const CellBasis &basis, const Vector<double> &u)
{
  const LevelGrid &level = grid.finest();
  if (record.report.reason == StopReason::not_finite || u.size() == 0 || u.block() != level.block)
    return;
  record.numbers = solution_numbers(record.parameters.problem, level, basis, u);
  record.probes = values_at(level, basis, u, record.parameters.output.probes);
  for (const LineProbe &line : record.parameters.output.probe_lines)
    record.probe_lines.push_back(values_at(level, basis, u, line.points()));
}

bool has_no_field(const OutputOptions &output, const Grid &grid)
{
  return has_no_vtu(output, grid) && !needs_everything(output);
}

namespace
{
  /// Throws std::runtime_error unless a field file can get this name.
  void check_field_file(
      const OutputOptions &output, const std::string &file, const TroubleWithFile &trouble_with)
  {
    if (const std::string trouble = trouble_with(file); !trouble.empty())
      throw std::runtime_error("output.name = '" + cut(output.name) + "': the file " +
          cut(std::filesystem::path(file).filename().string()) + " cannot be written (" + trouble +
          "); allowed: a name that the file system takes, also with the ending _not_converged and "
          ".vtu, .npy, .json or _line_1.csv, and that no directory has; or output.write_vtu = false, "
          "output.write_npy = false and no output.probe_lines");
  }

  void warn_of_large_field(const OutputOptions &output, const Grid &grid, Console &console)
  {
    const std::optional<std::string> reason = refuse_output(grid, field_options(output));
    if (!output.write_vtu || !reason)
      return;
    console.warning("the solution will not be written for ParaView (output.vtu_max_cells = " +
        std::to_string(output.vtu_max_cells) + "): " + *reason +
        (output.write_npy ? "; output.write_npy writes all of it as an array, and "
                          : "; output.write_npy = true would write it as an array of any size, "
                            "output.vtu_coarsening = " +
                    std::to_string(output.vtu_coarsening + 1) + " a coarser grid, and ") +
        "output.write_vtu = false asks for no file for ParaView");
  }
} // namespace

void check_output(const OutputOptions &output, const Grid &grid, Console &console,
    const TroubleWithFile &trouble_with)
{
  const std::string complaint = complaint_of_first_rank(grid.communicator, [&] {
    for (const char *name : record_files)
      if (const std::string trouble = trouble_with(std::filesystem::path(output.directory) / name);
          !trouble.empty())
        throw std::runtime_error("output.directory = '" + output.directory + "': its file " + name +
            " cannot be written (" + trouble + ")");
    if (!output.log_file.empty())
      if (const std::string trouble =
              trouble_with(std::filesystem::path(output.directory) / output.log_file);
          !trouble.empty())
        throw std::runtime_error(complaint_about_log(output.log_file, trouble));
    for (const bool converged : {true, false})
    {
      if (!has_no_vtu(output, grid))
        for (const std::string &file : field_files(grid, field_base(output, converged)))
          check_field_file(output, file, trouble_with);
      if (output.write_npy)
        for (const std::string &file : array_files(output, converged))
          check_field_file(output, file, trouble_with);
      for (std::size_t l = 0; l < output.probe_lines.size(); ++l)
        check_field_file(output, line_file(output, converged, l), trouble_with);
    }
  });
  if (!complaint.empty())
    throw ParameterError(complaint);
  warn_of_large_field(output, grid, console);
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

  void warn_of_other_arrays(
      const OutputOptions &output, bool converged, const Grid &grid, Console &console)
  {
    const std::string found = complaint_of_first_rank(grid.communicator, [&] {
      const std::string description = array_files(output, converged)[1];
      if (std::filesystem::exists(description) && is_description(description))
        throw std::runtime_error(description);
    });
    if (!found.empty())
      console.warning(found + " and its array are of an earlier run");
  }

  void write_array(RunRecord &record, const Grid &grid, const CellBasis &basis,
      const Vector<double> &u, Console &console)
  {
    const OutputOptions &output = record.parameters.output;
    const bool converged = record.report.converged();
    const auto [array, description] = array_files(output, converged);
    write_nodal_file(grid, basis, u, array, description);
    on_first_rank(grid.communicator, [&] {
      const FieldName field{output.field_name, output.field_unit};
      write_file(description, description_text(describe_field(grid, field, converged)));
    });
    record.files.insert(record.files.end(), {description, array});
    warn_of_other_arrays(output, !converged, grid, console);
  }

  void write_vtu(RunRecord &record, const Grid &grid, const CellBasis &basis,
      const Vector<double> &u, Console &console)
  {
    const OutputOptions &output = record.parameters.output;
    const bool converged = record.report.converged();
    FieldOutputOptions options = field_options(output);
    options.converged = converged;
    const FieldOutput written =
        write_field_output(grid, basis, u, field_base(output, converged), options);
    record.files.push_back(written.path);
    on_first_rank(
        grid.communicator, [&] { remove_stale_files(field_base(output, !converged), 0); });
    if (!written.in_double.empty())
      console.normal("fields       " + join(written.in_double, ", ") +
          " in double precision, since single would not show the values\n");
  }
} // namespace

void write_field(RunRecord &record, const Grid &grid, const CellBasis &basis,
    const Vector<double> &u, Console &console)
{
  const OutputOptions &output = record.parameters.output;
  const bool is_finite = record.report.reason != StopReason::not_finite;
  if (output.write_npy && is_finite)
    write_array(record, grid, basis, u, console);
  if (!has_no_vtu(output, grid) && is_finite)
    write_vtu(record, grid, basis, u, console);
  else
    warn_of_other_fields(output, grid, console);
}

namespace
{
  /// Removes files of further lines of earlier runs; where this run has no line at all, it only tells of them.
  void forget_other_lines(const RunRecord &record, MPI_Comm communicator, Console &console)
  {
    const std::size_t n_lines = record.probe_lines.size();
    const bool are_wanted = !record.parameters.output.probe_lines.empty();
    const std::string left = complaint_of_first_rank(communicator, [&] {
      for (const bool converged : {true, false})
        for (const auto &file : find_line_files(field_base(record.parameters.output, converged),
                 converged == record.report.converged() ? n_lines : 0))
        {
          std::error_code error;
          if (!are_wanted || !std::filesystem::remove(file, error))
            throw std::runtime_error(file.string());
        }
    });
    if (!left.empty())
      console.warning(left + " is of an earlier run" +
          (are_wanted ? ", and cannot be removed" : ": this one has no lines"));
  }
} // namespace

void write_probe_lines(RunRecord &record, MPI_Comm communicator, Console &console)
{
  const OutputOptions &output = record.parameters.output;
  const bool converged = record.report.converged();
  const std::string field = FieldName{output.field_name, output.field_unit}.text();
  for (std::size_t l = 0; l < record.probe_lines.size(); ++l)
  {
    const std::string file = line_file(output, converged, l);
    on_first_rank(communicator, [&] {
      OutputFile(file).write(
          [&](std::ostream &out) { write_line(record.probe_lines[l], field, out); });
    });
    record.files.push_back(file);
  }
  forget_other_lines(record, communicator, console);
}

void foresee_files(const Grid &written, RunRecord &record, Console &console)
{
  const OutputOptions &output = record.parameters.output;
  const std::string if_not_converged = field_base(output, false);
  int there = 0;
  check_output(output, written, console, [&](const std::filesystem::path &file) {
    if (!file.string().starts_with(if_not_converged))
    {
      record.files.push_back(file.string());
      std::error_code unknown;
      there += std::filesystem::exists(file, unknown) ? 1 : 0;
    }
    return foreseen_trouble_with_file(file);
  });
  console.normal(files_text(record));
  if (there > 0)
    console.normal("             " + std::to_string(there) + " of " +
        std::to_string(record.files.size()) + " are there and would be replaced\n");
}
} // namespace tensormg
