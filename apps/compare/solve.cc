#include "apps/compare/solve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <ostream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "apps/common/json_text.h"
#include "apps/common/measurement.h"
#include "apps/common/output.h"
#include "apps/common/program.h"
#include "apps/parameters/words.h"
#include "apps/solve/solve.h"
#include "kernels/device/device.h"
#include "version.h"

namespace tensormg
{
namespace
{
  using Json = nlohmann::ordered_json;

  /// The value that belongs to a word of a list, which has been checked.
  template <typename Enum>
  Enum from_word(const std::string &word)
  {
    for (const auto &[known, value] : words<Enum>)
      if (word == known)
        return value;
    throw ParameterError("'" + word + "' is not a word of a solve");
  }

  std::array<std::string, 5> choice_of(const SolveEntry &entry)
  {
    const SolverOptions &solver = entry.parameters.solver;
    return {std::to_string(entry.parameters.problem.degree), entry.parameters.backend,
        to_word(solver.multigrid.precision), to_word(solver.solver),
        solver.solver == OuterSolver::direct ? "-" : to_word(solver.multigrid.smoother)};
  }

  constexpr std::array<int, 13> widths{6, 16, 9, 7, 10, 13, 6, 10, 10, 10, 10, 10, 10};

  std::string row(const std::vector<std::string> &cells)
  {
    std::string text = " ";
    for (std::size_t i = 0; i < cells.size(); ++i)
    {
      const auto width = static_cast<std::size_t>(widths[i]);
      text += ' ' + std::string(width - std::min(width, cells[i].size()), ' ') + cells[i];
    }
    return text + '\n';
  }

  std::string heading()
  {
    return row({"degree", "backend", "precision", "solver", "smoother", "DoFs", "steps", "solve",
        "MDoF/s", "setup", "residual", "L2 error", "memory"});
  }

  std::string entry_text(const SolveEntry &entry)
  {
    const auto choice = choice_of(entry);
    std::vector<std::string> cells(choice.begin(), choice.end());
    if (!entry.record)
      return row(cells).substr(0, row(cells).size() - 1) + "  " + entry.reason + '\n';
    const RunRecord &record = *entry.record;
    cells.insert(cells.end(),
        {format_count(record.dofs), std::to_string(record.report.iterations),
            format_seconds(record.report.seconds), format_number(1e-6 * record.dofs_per_second()),
            format_seconds(record.setup_seconds),
            format_residual(record.report.true_relative_residual),
            record.l2_error ? format_residual(*record.l2_error) : "-",
            format_bytes(record.memory.bytes())});
    return row(cells);
  }

  /// The refinements of the problem's coarse cells that come nearest to so many unknowns.
  int refinements_for(const Problem &problem, std::int64_t dofs)
  {
    double coarse = std::pow(problem.degree + 1., problem.dim);
    for (int d = 0; d < problem.dim; ++d)
      coarse *= static_cast<double>(problem.coarse_cells[d]);
    const double levels = std::log2(static_cast<double>(dofs) / coarse) / problem.dim;
    return static_cast<int>(std::lround(std::clamp(levels, 0., 30.)));
  }

  void run_entry(SolveEntry &entry, const CompareOptions &options, MPI_Comm communicator)
  {
    Console silent = Console::silent(communicator);
    double seconds = 0.;
    try
    {
      for (int i = 0; i < options.repetitions && (i == 0 || seconds < options.max_seconds); ++i)
      {
        RunRecord record = run_solve(entry.parameters, communicator, silent);
        seconds += record.report.seconds;
        ++entry.repetitions;
        entry.slowest_seconds = std::max(entry.slowest_seconds, record.report.seconds);
        if (!entry.record || record.report.seconds < entry.record->report.seconds)
          entry.record = std::move(record);
      }
    }
    catch (const ParameterError &error)
    {
      entry.reason = error.what();
    }
    catch (const DeviceError &error)
    {
      entry.reason = error.what();
    }
  }
} // namespace

std::vector<SolveEntry> run_solves(
    const Parameters &parameters, MPI_Comm communicator, Console &console)
{
  const CompareOptions &options = parameters.compare;
  std::vector<SolveEntry> entries;
  console.normal(heading());
  for (const std::int64_t dofs : options.dofs)
    for (const int degree : options.degrees)
      for (const std::string &solver : options.solvers)
        for (const std::string &smoother : options.smoothers)
          for (const std::string &precision : options.precisions)
            for (const std::string &backend : options.backends)
            {
              if (!tensormg::from_word<Precision>(precision)) // the cycle has no such
                continue;
              SolveEntry &entry = entries.emplace_back();
              entry.parameters = parameters;
              entry.parameters.problem.degree = degree;
              entry.parameters.problem.refinements =
                  refinements_for(entry.parameters.problem, dofs);
              entry.parameters.backend = backend;
              entry.parameters.solver.solver = from_word<OuterSolver>(solver);
              entry.parameters.solver.multigrid.smoother = from_word<Smoother>(smoother);
              entry.parameters.solver.multigrid.precision = from_word<Precision>(precision);
              // A row is what its name says.
              entry.parameters.solver.multigrid.precision_fallback = false;
              entry.parameters.output.write_vtu = false;
              run_entry(entry, options, communicator);
              console.normal(entry_text(entry));
            }
  return entries;
}

void check_solves(std::vector<SolveEntry> &entries)
{
  for (SolveEntry &entry : entries)
  {
    if (!entry.record)
      continue;
    if (!entry.record->report.converged())
    {
      entry.reason = std::string("did not converge: ") + to_string(entry.record->report.reason);
      continue;
    }
    // Backends round differently in FP64, which at high degree is what is left of the error.
    const auto same_problem = [&](const SolveEntry &other) {
      return other.parameters.problem.degree == entry.parameters.problem.degree &&
          other.parameters.problem.refinements == entry.parameters.problem.refinements &&
          other.record && other.record->report.converged() && other.record->l2_error;
    };
    const auto first = std::find_if(entries.begin(), entries.end(), [&](const SolveEntry &other) {
      return same_problem(other) && other.parameters.backend == entry.parameters.backend;
    });
    if (first == entries.end() || !entry.record->l2_error)
      continue;
    const double expected = *first->record->l2_error, found = *entry.record->l2_error;
    // The end of an iteration leaves a part of its own, which may be the larger one.
    const double of_iteration = first->record->algebraic_l2_error.value_or(0.) +
        entry.record->algebraic_l2_error.value_or(0.);
    if (!(std::abs(found - expected) <= l2_agreement * expected + of_iteration))
      entry.reason = "the L2 error is " + format_residual(found) +
          ", that of the first entry of the backend " + format_residual(expected);
    for (const SolveEntry &other : entries)
      if (entry.reason.empty() && same_problem(other) &&
          !(found <= backend_agreement * *other.record->l2_error + of_iteration))
        entry.reason = "the L2 error is " + format_residual(found) + ", with the backend " +
            other.parameters.backend + " it is " + format_residual(*other.record->l2_error);
  }
}

void write_solves_json(const std::vector<SolveEntry> &entries, const std::string &date,
    const std::string &command, std::ostream &out)
{
  Json list = Json::array();
  for (const SolveEntry &entry : entries)
  {
    const auto [degree, backend, precision, solver, smoother] = choice_of(entry);
    Json json{{"degree", entry.parameters.problem.degree}, {"backend", backend},
        {"precision", precision}, {"solver", solver}, {"smoother", smoother},
        {"repetitions", entry.repetitions}, {"solve_seconds_slowest", entry.slowest_seconds},
        {"reason", entry.reason}, {"run", nullptr}};
    if (entry.record)
    {
      std::ostringstream text;
      write_run_json(*entry.record, text);
      json["run"] = json_of_text(text.str());
    }
    list.push_back(std::move(json));
  }
  Json json{{"device", nullptr}, {"driver", nullptr}, {"git", git_hash}, {"version", version},
      {"date", date}, {"command", command}, {"entries", list}};
  for (const SolveEntry &entry : entries)
    if (entry.record && entry.record->device)
    {
      json["device"] = entry.record->device->name;
      json["driver"] = entry.record->device->driver;
    }
  out << text_of_json(json) << '\n';
}

int compare_solves(const Parameters &parameters, MPI_Comm communicator, Console &console)
{
  int ranks = 1;
  MPI_Comm_size(communicator, &ranks);
  const std::string date = utc_now();
  prepare_directory(parameters.output.directory, communicator);
  std::vector<SolveEntry> entries = run_solves(parameters, communicator, console);
  check_solves(entries);

  const std::filesystem::path file =
      std::filesystem::path(parameters.output.directory) / "compare_solve.json";
  on_first_rank(communicator, [&] {
    std::ostringstream text;
    write_solves_json(entries, date, command_line("compare", ranks), text);
    write_file(file, text.str());
  });
  console.normal("\nfiles        " + file.string() + '\n');

  int solved = 0, wrong = 0;
  for (const SolveEntry &entry : entries)
    if (entry.record)
    {
      ++solved;
      if (entry.reason.empty())
        continue;
      ++wrong;
      std::string name;
      for (const std::string &word : choice_of(entry))
        name += (name.empty() ? "degree " : ", ") + word;
      console.error(name + ": " + entry.reason);
    }
  if (wrong > 0)
    return exit_check_failed;
  if (solved == 0)
  {
    console.error("nothing could be solved: no entry is available");
    return exit_unexpected;
  }
  return 0;
}
} // namespace tensormg
