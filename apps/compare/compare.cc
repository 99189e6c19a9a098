#include "apps/compare/compare.h"

#include <algorithm>
#include <cmath>

#include "apps/common/output.h"
#include "apps/common/program.h"
#include "apps/compare/report.h"
#include "apps/compare/solve.h"
#include "apps/parameters/checks.h"
#include "apps/parameters/mesh.h"

namespace tensormg
{
namespace
{
  /// The check, and if it passes the timing and the instructions.
  void measure_entry(CompareEntry &entry, Candidate &candidate, const CompareOptions &options,
      InstructionCounter *counter)
  {
    entry.dofs = candidate.dofs();
    entry.cells = candidate.cells();
    entry.work = candidate.work();
    entry.resources = candidate.resources();
    entry.error = candidate.error();
    if (!(*entry.error <= entry.tolerance))
    {
      entry.reason = "differs from the reference by " + format_residual(*entry.error) +
          ", allowed is " + format_residual(entry.tolerance);
      return;
    }
    const auto time = [&](int runs) { return candidate.milliseconds(runs); };
    const Pace pace = entry.place == Place::device ? Pace::of_device(options.rest_seconds) : Pace{};
    entry.time = measure(time, options.repetitions, options.max_seconds, pace);
    entry.outcome = Outcome::measured;
    if (counter != nullptr && entry.place == Place::device)
      if (const auto counted = counter->per_run(candidate, entry.time.runs, entry.time.median))
        entry.instructions_per_dof = *counted / static_cast<double>(entry.dofs);
    // After the counters: a chip that lasting load has slowed seems to start more instructions.
    if (entry.place == Place::device && entry.time.median <= 1e3 * options.max_seconds)
      entry.under_load =
          measure_under_load(time, device_clock(), entry.time.runs, pace, options.lasting_seconds);
  }

  /// Every combination of one group, in the order of the lists.
  std::vector<Choice> choices_of(const CompareOptions &options, int dim, std::int64_t dofs,
      const std::string &form, const std::string &step)
  {
    std::vector<Choice> choices;
    for (const int degree : options.degrees)
      for (const std::string &precision : options.precisions)
        for (const std::string &backend : options.backends)
          choices.push_back(
              {dim, degree, dofs, step, form, precision, backend, options.powers_of_two});
    return choices;
  }

  void run_group(Comparison &comparison, const std::vector<Choice> &choices,
      InstructionCounter *counter, MPI_Comm communicator, Console &console,
      const std::function<void(const Comparison &)> &keep)
  {
    const std::size_t first = comparison.entries.size();
    for (const Choice &choice : choices)
    {
      comparison.entries.push_back(
          run_entry(choice, comparison.parameters.compare, communicator, counter));
      const CompareEntry &entry = comparison.entries.back();
      // Entries of the device are known to the first rank alone.
      int is_available = entry.outcome != Outcome::not_available ? 1 : 0;
      MPI_Bcast(&is_available, 1, MPI_INT, 0, communicator);
      if (is_available == 0)
        continue;
      console.normal(entry_text(comparison, entry));
      if (keep)
        keep(comparison);
    }
    console.normal(bounds_text(comparison, first));
  }

  /// A yardstick that changed makes percentages uncertain.
  void check_scale(const Comparison &comparison, MPI_Comm communicator, Console &console)
  {
    int rank = 0;
    MPI_Comm_rank(communicator, &rank);
    for (const Machine &machine : comparison.machines)
    {
      if (machine.place == Place::device && rank != 0)
        continue;
      const double again = measure_scale(machine.place, communicator);
      if (std::abs(again / machine.scale_bandwidth - 1.) > 0.05)
        console.warning("the scale bandwidth of the " + std::string(place_word(machine.place)) +
            " was " + format_number(1e-9 * machine.scale_bandwidth) +
            " GB/s at the begin of the run and is " + format_number(1e-9 * again) +
            " GB/s at its end: percentages are uncertain by that");
    }
  }
} // namespace

const Machine &Comparison::machine(Place place) const
{
  for (const Machine &machine : machines)
    if (machine.place == place)
      return machine;
  throw std::logic_error("an entry without its machine");
}

std::vector<Bound> predict(const CompareEntry &entry, const Machine &machine)
{
  std::vector<Bound> bounds;
  const auto add = [&](const char *name, std::optional<double> per_dof, double per_second) {
    if (per_dof && per_second > 0.)
      bounds.push_back({name, 1e3 * *per_dof * static_cast<double>(entry.dofs) / per_second});
  };
  const Resources none;
  const Resources &resources = entry.resources ? *entry.resources : none;
  add("memory", entry.work.bytes, machine.scale_bandwidth);
  add("shared memory", resources.shared_bytes_per_dof,
      machine.peak(peak::Unit::shared_memory) / resources.wavefronts.value_or(1.));
  add("issue", entry.instructions_per_dof, machine.peak(peak::Unit::issue));
  add("arithmetic", entry.work.flops, machine.peak(entry.unit));
  return bounds;
}

std::optional<double> predicted_milliseconds(
    const std::vector<Bound> &bounds, std::string_view name)
{
  for (const Bound &bound : bounds)
    if (bound.name == name)
      return bound.milliseconds;
  return std::nullopt;
}

Bound tightest_bound(const CompareEntry &entry, const Machine &machine)
{
  const std::vector<Bound> bounds = predict(entry, machine);
  return *std::max_element(bounds.begin(), bounds.end(),
      [](const Bound &a, const Bound &b) { return a.milliseconds < b.milliseconds; });
}

double percent_of_scale(const CompareEntry &entry, const Machine &machine)
{
  return 100. * entry.bytes() / entry.seconds() / machine.scale_bandwidth;
}

double percent_of_peak(const CompareEntry &entry, const Machine &machine)
{
  return 100. * entry.flops() / entry.seconds() / machine.peak(entry.unit);
}

CompareEntry run_entry(const Choice &choice, const CompareOptions &options, MPI_Comm communicator,
    InstructionCounter *counter)
{
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  CompareEntry entry;
  entry.choice = choice;
  std::unique_ptr<Candidate> candidate;
  try
  {
    const Implementation &row = find_implementation(choice);
    entry.place = row.place;
    entry.unit = row.unit;
    entry.tolerance = row.tolerance;
    if (row.place == Place::device && rank != 0)
      return entry;
    candidate = row.make(choice, communicator);
  }
  catch (const NotAvailable &error)
  {
    entry.reason = error.what();
    return entry;
  }
  catch (const std::invalid_argument &error) // of the kernels' own table
  {
    entry.reason = error.what();
    return entry;
  }
  catch (const DeviceError &error)
  {
    entry.reason = error.what();
    return entry;
  }
  entry.outcome = Outcome::failed;
  try
  {
    measure_entry(entry, *candidate, options, counter);
  }
  catch (const DeviceError &error)
  {
    entry.reason = error.what();
  }
  return entry;
}

Comparison run_comparison(const Parameters &parameters, MPI_Comm communicator, Console &console,
    const std::function<void(const Comparison &)> &keep)
{
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  Comparison comparison;
  comparison.parameters = parameters;
  MPI_Comm_size(communicator, &comparison.ranks);
  comparison.date = utc_now();
  comparison.command = command_line("compare", comparison.ranks);
  prepare_directory(parameters.output.directory, communicator);
  comparison.machines.push_back(measure_host(communicator));
  std::optional<InstructionCounter> counter;
  if (rank == 0)
    try
    {
      comparison.machines.push_back(measure_device());
      counter.emplace(comparison.main_machine().peak(peak::Unit::issue));
      comparison.no_counters = counter->trouble();
    }
    catch (const DeviceError &error)
    {
      comparison.no_device = error.what();
    }
  console.normal(machines_text(comparison));

  const CompareOptions &options = parameters.compare;
  for (const int dim : options.dimensions)
    for (const std::int64_t dofs : options.dofs)
      for (const std::string &form : options.forms)
        for (const std::string &step : options.steps)
        {
          console.normal(group_heading(dim, dofs, form, step));
          run_group(comparison, choices_of(options, dim, dofs, form, step),
              counter ? &*counter : nullptr, communicator, console, keep);
        }
  if (counter && comparison.no_counters.empty() && !counter->trouble().empty())
  {
    comparison.no_counters = counter->trouble();
    console.warning("instructions were not counted to the end of the run: " + counter->trouble());
  }
  check_scale(comparison, communicator, console);
  comparison.complete = true;
  return comparison;
}

int compare_exit_code(const Comparison &comparison, MPI_Comm communicator, Console &console)
{
  // Rank 0 knows all results.
  std::array<int, 2> counts{}; // measured, failed
  for (const CompareEntry &entry : comparison.entries)
    if (entry.outcome != Outcome::not_available)
      ++counts[entry.outcome == Outcome::failed ? 1 : 0];
  MPI_Bcast(counts.data(), 2, MPI_INT, 0, communicator);
  if (counts[1] > 0)
  {
    console.error(std::to_string(counts[1]) + (counts[1] == 1 ? " entry" : " entries") + " of " +
        std::to_string(counts[0] + counts[1]) + " failed the check and " +
        (counts[1] == 1 ? "was" : "were") + " not timed");
    return exit_check_failed;
  }
  if (counts[0] == 0)
  {
    console.error("nothing could be measured: no entry is available");
    return exit_unexpected;
  }
  return 0;
}

int compare_program(const Parameters &parameters, MPI_Comm communicator, Console &console)
{
  if (parameters.compare.solve && has_blocks(parameters))
    fail_for(parameters, {"mesh.type"}, "compare solves on boxes; allowed: box");
  if (parameters.compare.solve)
    return compare_solves(parameters, communicator, console);
  const TableFiles files(parameters.output.directory, "compare");
  const auto write_files = [&](const Comparison &so_far) {
    files.write(
        communicator, [&](std::ostream &out) { write_compare_csv(so_far, out); },
        [&](std::ostream &out) { write_compare_json(so_far, out); });
  };
  const Comparison comparison = run_comparison(parameters, communicator, console, write_files);
  console.result(verdicts_text(comparison));
  console.result(not_available_text(comparison));
  write_files(comparison);
  console.normal(files.text());
  return compare_exit_code(comparison, communicator, console);
}
} // namespace tensormg
