// Runs the rows of a class's table on a problem.
#pragma once

#include <algorithm>
#include <new>
#include <span>
#include <stdexcept>
#include <string>

#include "apps/diagnose/classes.h"
#include "apps/diagnose/report.h"
#include "apps/diagnose/spmv/twins.h"
#include "kernels/device/device.h"

namespace tensormg::diagnose
{
/// The check, and the timing if it passes. An exception makes the entry a failed one, std::invalid_argument before the check is
/// through and a lack of memory one that is not available: a kernel's error never ends the run.
void measure_entry(
    Entry &entry, Candidate &candidate, const DiagnoseOptions &options, Progress &progress);

/// The entry of a row, without what only its candidate knows and which of its twins is the fastest.
template <typename Problem>
Entry entry_of(const Row<Problem> &row, const std::string &class_name, const std::string &problem)
{
  Entry entry;
  entry.class_name = class_name;
  entry.problem = problem;
  entry.kernel = row.kernel;
  entry.precision = row.precision;
  entry.ceiling = row.ceiling;
  entry.twins = twin_names(row.twin);
  entry.place = row.place;
  entry.tolerance = row.tolerance;
  return entry;
}

/// `made` is the row's candidate, if it could be made.
template <typename Problem>
Entry run_row(const Row<Problem> &row, const std::string &class_name, const Problem &problem,
    const std::string &about, Run &run, std::unique_ptr<Candidate> &made)
{
  Entry entry = entry_of(row, class_name, about);
  entry.twin = fastest_twin(entry, run.diagnosis);
  if (row.place == Place::device && !run.diagnosis.no_device.empty())
  {
    entry.reason = run.diagnosis.no_device;
    return entry;
  }
  const std::string name = entry.kernel + ' ' + entry.precision;
  run.progress.begin(name + ": making its data");
  try
  {
    made = row.make(problem, run.team);
  }
  catch (const NotAvailable &error)
  {
    entry.reason = error.what();
    return entry;
  }
  catch (const std::bad_alloc &)
  {
    entry.reason = out_of_host_memory();
    return entry;
  }
  catch (const std::invalid_argument &error) // of the kernel itself
  {
    entry.reason = error.what();
    return entry;
  }
  catch (const DeviceError &error)
  {
    entry.reason = error.what();
    return entry;
  }
  catch (const std::exception &error)
  {
    entry.outcome = Outcome::failed;
    entry.reason = error.what();
    return entry;
  }
  measure_entry(entry, *made, run.options, run.progress);
  return entry;
}

template <typename Problem>
Entry run_row(const Row<Problem> &row, const std::string &class_name, const Problem &problem,
    const std::string &about, Run &run)
{
  std::unique_ptr<Candidate> made;
  return run_row(row, class_name, problem, about, run, made);
}

/// Both measured and bound by arithmetic, and their times so close that the clock, which heat and power change, may decide.
bool is_close_call(const Entry &entry, const Entry &twin, const Diagnosis &diagnosis);

/// A kernel and its twin by turns, both checked. If that does not work, for instance since there is no memory for both at once, the
/// times measured one after the other stay what counts.
template <typename Problem>
void measure_by_turns(Entry &entry, Candidate &candidate, const Entry &twin_entry,
    const Row<Problem> &twin_row, const Problem &problem, Run &run)
{
  try
  {
    const std::unique_ptr<Candidate> twin = twin_row.make(problem, run.team);
    if (twin->error() <= twin_entry.tolerance)
      entry.gain_by_turns =
          quotient_by_turns([&](int runs) { return candidate.milliseconds(runs); }, entry.time.runs,
              [&](int runs) { return twin->milliseconds(runs); }, twin_entry.time.runs,
              run.options.repetitions, 2. * run.options.max_seconds);
  }
  catch (const std::exception &)
  {
    entry.gain_by_turns.reset();
  }
}

/// Mistakes in a table, also in rows that this machine does not run: a ceiling that is not measured, a twin that
/// does not stand above. Throws std::logic_error.
template <typename Problem>
void check_rows(std::span<const Row<Problem>> rows)
{
  for (std::size_t i = 0; i < rows.size(); ++i)
  {
    const Row<Problem> &row = rows[i];
    const std::string name = std::string(row.kernel) + ' ' + row.precision;
    const auto is_ceiling = [&](const CeilingRow &ceiling) {
      return ceiling.place == row.place && std::string(ceiling.name) == row.ceiling;
    };
    if (std::none_of(ceiling_rows().begin(), ceiling_rows().end(), is_ceiling))
      throw std::logic_error(name + ": no ceiling '" + row.ceiling + "'");
    const auto above = rows.first(i);
    for (const std::string &twin : twin_names(row.twin))
      if (std::none_of(above.begin(), above.end(), [&](const Row<Problem> &other) {
            return other.place == row.place && other.kernel == twin &&
                std::string(other.precision) == row.precision;
          }))
        throw std::logic_error(name + ": no twin '" + twin + "' above it");
  }
}

/// One entry says that a problem was left out, and why.
void leave_out(const std::string &class_name, const std::string &problem, Run &run,
    const std::string &reason = "the class has had its time; diagnose.time_limit sets it");

/// The row of an entry's twin; check_rows() has found it.
template <typename Problem>
const Row<Problem> &twin_row_of(const Entry &entry, std::span<const Row<Problem>> rows)
{
  return *std::find_if(rows.begin(), rows.end(), [&](const Row<Problem> &other) {
    return other.place == entry.place && other.kernel == entry.twin &&
        other.precision == entry.precision;
  });
}

/// All rows that the run wants, each shown as soon as it is there, unless the class has had its time. Close calls are measured by
/// turns, but not in a quick run.
template <typename Problem>
void run_rows(std::span<const Row<Problem>> rows, const std::string &class_name,
    const Problem &problem, const std::string &about, Run &run)
{
  check_rows(rows);
  if (run.clock.is_spent())
    return leave_out(class_name, about, run);
  run.console.normal(problem_heading(class_name, about));
  const auto count_waiting = [&] {
    if (run.counters != nullptr && run.counters->are_waiting())
      run.console.normal(run.counters->count(run.diagnosis));
  };
  for (const Row<Problem> &row : rows)
    if (run.diagnosis.wants(row.place))
    {
      if (run.clock.is_spent())
      {
        count_waiting();
        return leave_out(class_name, about + ", further kernels", run);
      }
      std::unique_ptr<Candidate> candidate;
      Entry entry = run_row(row, class_name, problem, about, run, candidate);
      const Entry *const twin = run.diagnosis.twin_of(entry);
      if (!run.options.quick && twin != nullptr && is_close_call(entry, *twin, run.diagnosis))
        measure_by_turns(entry, *candidate, *twin, twin_row_of(entry, rows), problem, run);
      run.diagnosis.entries.push_back(std::move(entry));
      run.console.normal(entry_text(run.diagnosis, run.diagnosis.entries.back()));
      run.progress.rest();
      if (run.counters != nullptr)
        run.counters->keep(std::move(candidate), run.diagnosis);
      if (run.counters != nullptr && run.counters->are_large())
        count_waiting();
    }
  count_waiting();
}
} // namespace tensormg::diagnose
