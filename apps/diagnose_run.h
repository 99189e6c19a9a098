// Runs the rows of a class's table on a problem.
#pragma once

#include <span>
#include <string>

#include "apps/diagnose_classes.h"
#include "apps/diagnose_report.h"
#include "kernels/core/device.h"

namespace tensormg::diagnose
{
/// The check, and the timing if it passes. Errors of the device make the entry a failed one.
void measure_entry(Entry &entry, Candidate &candidate, const DiagnoseOptions &options);

/// The entry of a row, without what only its candidate knows.
template <typename Problem>
Entry entry_of(const Row<Problem> &row, const std::string &class_name, const std::string &problem)
{
  Entry entry;
  entry.class_name = class_name;
  entry.problem = problem;
  entry.kernel = row.kernel;
  entry.precision = row.precision;
  entry.ceiling = row.ceiling;
  entry.twin = row.twin;
  entry.place = row.place;
  entry.tolerance = row.tolerance;
  return entry;
}

template <typename Problem>
Entry run_row(const Row<Problem> &row, const std::string &class_name, const Problem &problem,
    const std::string &about, Run &run)
{
  Entry entry = entry_of(row, class_name, about);
  if (row.place == Place::device && !run.diagnosis.no_device.empty())
  {
    entry.reason = run.diagnosis.no_device;
    return entry;
  }
  std::unique_ptr<Candidate> candidate;
  try
  {
    candidate = row.make(problem, run.team);
  }
  catch (const NotAvailable &error)
  {
    entry.reason = error.what();
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
  measure_entry(entry, *candidate, run.options);
  return entry;
}

/// All rows that the run wants, each shown as soon as it is there.
template <typename Problem>
void run_rows(std::span<const Row<Problem>> rows, const std::string &class_name,
    const Problem &problem, const std::string &about, Run &run)
{
  run.console.normal(problem_heading(class_name, about));
  for (const Row<Problem> &row : rows)
    if (run.diagnosis.wants(row.place))
    {
      run.diagnosis.entries.push_back(run_row(row, class_name, problem, about, run));
      run.console.normal(entry_text(run.diagnosis, run.diagnosis.entries.back()));
    }
}
} // namespace tensormg::diagnose
