#include "apps/diagnose/diagnose.h"

#include <algorithm>
#include <new>
#include <stdexcept>

#include "apps/common/output.h"
#include "apps/common/program.h"
#include "apps/diagnose/classes.h"
#include "apps/diagnose/counters.h"
#include "apps/diagnose/machine_run.h"
#include "apps/diagnose/report.h"
#include "apps/diagnose/run.h"
#include "apps/diagnose/spmv/matrix_files.h"
#include "apps/parameters/words.h"
#include "kernels/device/meters/clock.h"

namespace tensormg::diagnose
{
namespace
{
  constexpr int quick_repetitions = 5;
  constexpr double quick_seconds = 0.2;
  // A quick run is to end within 60 seconds and a full one within 8 minutes, with its plots.
  constexpr double quick_limit = 45., full_limit = 450.;
  constexpr std::size_t quick_entries = 2; ///< of a list

  template <typename T>
  void cut(std::vector<T> &list)
  {
    if (list.size() > quick_entries)
      list.erase(list.begin() + quick_entries, list.end());
  }
} // namespace

bool Diagnosis::wants(Place place) const
{
  const std::string &wanted = parameters.diagnose.place;
  if (wanted == "both")
    return true;
  if (wanted == "auto")
    return (device_count() > 0) == (place == Place::device);
  return wanted == place_word(place);
}

const Machine &Diagnosis::machine(Place place) const
{
  for (const Machine &machine : machines)
    if (machine.place == place)
      return machine;
  throw std::logic_error("an entry without its machine");
}

const Entry *Diagnosis::twin_of(const Entry &entry) const
{
  for (const Entry &other : entries)
    if (!entry.twin.empty() && other.outcome == Outcome::measured && other.kernel == entry.twin &&
        other.class_name == entry.class_name && other.problem == entry.problem &&
        other.precision == entry.precision && other.place == entry.place)
      return &other;
  return nullptr;
}

double Prediction::overlapped() const { return std::max({arithmetic, transfer, shared}); }

double Prediction::at_clock() const
{
  return std::max(slowdown * std::max(arithmetic, shared), transfer);
}

const char *Prediction::bound() const
{
  return shared > std::max(arithmetic, transfer) ? "shared memory"
      : arithmetic > transfer                    ? "arithmetic"
                                                 : "memory";
}

Prediction predict(const Entry &entry, const Machine &machine)
{
  const roofline::Rates rates = machine.rates(entry.ceiling, entry.working_set);
  const Work executed{entry.executed_flops, entry.work.bytes};
  Prediction result{1e3 * roofline::arithmetic_seconds(executed, rates),
      1e3 * roofline::transfer_seconds(executed, rates)};
  if (entry.shared_bytes > 0.)
    result.shared = 1e3 * entry.shared_bytes / machine.rate("shared memory");
  if (const std::optional<double> clock = machine.ceiling(entry.ceiling).clock_ghz;
      clock && entry.clock_ghz)
    result.slowdown = std::max(1., *clock / *entry.clock_ghz);
  return result;
}

std::optional<Gain> gain(const Entry &entry, const Diagnosis &diagnosis)
{
  const Entry *twin = diagnosis.twin_of(entry);
  if (twin == nullptr || entry.outcome != Outcome::measured)
    return std::nullopt;
  const Machine &machine = diagnosis.machine(entry.place);
  const roofline::Rates plain = machine.rates(twin->ceiling, entry.working_set);
  const roofline::Rates own = machine.rates(entry.ceiling, entry.working_set);
  const double intensity = roofline::intensity(entry.work), balance = roofline::balance(plain);
  const Prediction mine = predict(entry, machine), its = predict(*twin, machine);
  Gain result;
  result.is_by_turns = entry.gain_by_turns.has_value();
  result.measured = entry.gain_by_turns.value_or(twin->time.median / entry.time.median);
  result.alpha = own.flops / plain.flops;
  result.bound = roofline::unoverlapped_speedup(result.alpha, balance, intensity);
  result.most = roofline::infinite_alpha_limit(balance, intensity);
  result.limit = roofline::is_memory_bound(entry.work, plain)
      ? roofline::memory_bound_limit(result.alpha)
      : result.alpha;
  result.overlapped = its.overlapped() / mine.overlapped();
  result.unoverlapped = its.unoverlapped() / mine.unoverlapped();
  return result;
}

DiagnoseOptions effective(const DiagnoseOptions &options)
{
  DiagnoseOptions result = options;
  if (std::find(result.classes.begin(), result.classes.end(), "all") != result.classes.end())
  {
    result.classes.clear();
    for (const ClassRow &row : class_rows())
      result.classes.emplace_back(row.name);
  }
  if (result.threads == 0)
    result.threads = usable_cores();
  if (result.quick)
  {
    result.repetitions = std::min(result.repetitions, quick_repetitions);
    result.max_seconds = std::min(result.max_seconds, quick_seconds);
    cut(result.matrices);
    cut(result.stencils);
    cut(result.depths);
    result.stencil_grids.clear();
    result.counters = false;
    cut(result.gemm_sizes);
    cut(result.sum_lengths);
    cut(result.matrix_files);
  }
  if (result.time_limit == 0.)
    result.time_limit = result.quick ? quick_limit : full_limit;
  return result;
}

void measure_entry(
    Entry &entry, Candidate &candidate, const DiagnoseOptions &options, Progress &progress)
{
  const std::string name = entry.kernel + ' ' + entry.precision;
  entry.outcome = Outcome::failed;
  try
  {
    entry.work = candidate.work();
    entry.executed_flops = candidate.executed_flops();
    entry.shared_bytes = candidate.shared_bytes();
    entry.working_set = candidate.working_set();
    entry.items = candidate.items();
    entry.tolerance *= candidate.error_growth();
    progress.begin(name + ": checking");
    entry.error = candidate.error();
    if (!(*entry.error <= entry.tolerance))
    {
      entry.reason = "differs from the reference by " + format_residual(*entry.error) +
          ", allowed is " + format_residual(entry.tolerance);
      return;
    }
    progress.begin(name + ": timing");
    std::optional<ClockMeter> meter;
    if (entry.place == Place::device)
      meter.emplace().start();
    entry.time = measure([&](int runs) { return candidate.milliseconds(runs); },
        options.repetitions, options.max_seconds);
    if (meter)
      entry.clock_ghz = meter->gigahertz();
    for (const Figure &figure : candidate.figures())
    {
      entry.figures.push_back(figure);
      if (figure.name.starts_with("preprocessing") && figure.unit == "ms")
        entry.figures.push_back(
            {figure.name, figure.value / entry.time.median, "times the kernel's own time"});
    }
    entry.library_kernels = candidate.library_kernels();
    entry.outcome = Outcome::measured;
  }
  catch (const std::invalid_argument
          &error) // the kernel does not do this problem, if it says so at once
  {
    entry.outcome = entry.error ? Outcome::failed : Outcome::not_available;
    entry.reason = error.what();
  }
  catch (const NotAvailable &error)
  {
    entry.outcome = Outcome::not_available;
    entry.reason = error.what();
  }
  catch (const std::bad_alloc &) // says nothing about the kernel
  {
    entry.outcome = Outcome::not_available;
    entry.reason = out_of_host_memory();
  }
  catch (const std::exception &error) // nothing of what other kernels gave is lost
  {
    entry.reason = error.what();
  }
}

bool is_close_call(const Entry &entry, const Entry &twin, const Diagnosis &diagnosis)
{
  if (entry.outcome != Outcome::measured || twin.outcome != Outcome::measured)
    return false;
  const Prediction prediction = predict(entry, diagnosis.machine(entry.place));
  if (prediction.arithmetic <= prediction.transfer)
    return false;
  const double quotient = twin.time.median / entry.time.median;
  return quotient < close_call && quotient > 1. / close_call;
}

void leave_out(
    const std::string &class_name, const std::string &problem, Run &run, const std::string &reason)
{
  Entry entry;
  entry.class_name = class_name;
  entry.problem = problem;
  entry.kernel = "left out";
  entry.reason = reason;
  run.diagnosis.entries.push_back(entry);
  run.console.normal("  " + problem + ": left out, " + entry.reason + '\n');
}

namespace
{
  /// What ends a whole class is an entry of it, not the end of the run.
  void run_class(const ClassRow &row, Run &run)
  {
    if (row.run == nullptr)
      return;
    try
    {
      row.run(run);
    }
    catch (const NotAvailable &error)
    {
      leave_out(row.name, "the rest of the class", run, error.what());
    }
    catch (const std::bad_alloc &)
    {
      leave_out(row.name, "the rest of the class", run, out_of_host_memory());
    }
  }
} // namespace

Diagnosis run_diagnosis(const Parameters &parameters, Console &console,
    const std::function<void(const Diagnosis &)> &keep)
{
  const DiagnoseOptions options = effective(parameters.diagnose);
  const RunClock clock(options.time_limit);
  Diagnosis diagnosis;
  diagnosis.parameters = parameters;
  diagnosis.date = utc_now();
  diagnosis.command = command_line("diagnose", 1);
  Progress progress = Progress::on_screen(console.is_quiet());
  const std::vector<MatrixFile> matrix_files = read_matrix_files(options, console, progress);
  ThreadTeam team(options.threads);
  measure_machines(diagnosis, options, team, console, progress);
  console.normal(machines_text(diagnosis));
  if (diagnosis.machines.empty())
  {
    diagnosis.complete = true;
    return diagnosis;
  }
  const double of_machines = clock.elapsed();
  RunCounters counters(options.counters);
  Run run{diagnosis, options, team, console, matrix_files, clock, &counters, progress};
  double weights = 0.;
  for (const std::string &name : options.classes)
    weights += find_class(name).weight;
  std::size_t count = 0;
  for (const std::string &name : options.classes)
  {
    const ClassRow &row = find_class(name);
    const double begin = clock.elapsed(), share = run.clock.begin_class(row.weight, weights);
    weights -= row.weight;
    console.normal(class_heading(row, ++count, options.classes.size()) + "  after " +
        format_number(begin) + " s, for at most " + format_number(share) + " s\n");
    run.progress.begin(name);
    run.progress.rest();
    run_class(row, run);
    // Class ceilings prints what was measured of the machines.
    diagnosis.class_seconds.emplace_back(
        name, clock.elapsed() - begin + (name == "ceilings" ? of_machines : 0.));
    diagnosis.seconds = clock.elapsed();
    diagnosis.no_counters = counters.trouble();
    if (keep)
      keep(diagnosis);
  }
  check_memory_again(diagnosis, options, team, console, run.progress);
  diagnosis.seconds = clock.elapsed();
  diagnosis.complete = true;
  return diagnosis;
}

int exit_code(const Diagnosis &diagnosis, Console &console)
{
  std::size_t measured = diagnosis.accuracies.size(), failed = 0;
  for (const Entry &entry : diagnosis.entries)
  {
    measured += entry.outcome == Outcome::measured ? 1 : 0;
    failed += entry.outcome == Outcome::failed ? 1 : 0;
  }
  for (const Accuracy &accuracy : diagnosis.accuracies)
    failed += accuracy.is_wrong() ? 1 : 0;
  const std::vector<std::string> &classes = diagnosis.parameters.diagnose.classes;
  if (std::find(classes.begin(), classes.end(), "ceilings") != classes.end())
    measured += diagnosis.machines.size();
  if (failed > 0)
  {
    console.error(std::to_string(failed) + (failed == 1 ? " kernel" : " kernels") +
        " failed the check and " + (failed == 1 ? "does" : "do") + " not count");
    return exit_check_failed;
  }
  if (measured == 0)
  {
    const bool is_device_missed = !diagnosis.no_device.empty() && diagnosis.wants(Place::device);
    const std::string reason = is_device_missed ? diagnosis.no_device
        : diagnosis.entries.empty()             ? ""
                                                : diagnosis.entries.front().reason;
    console.error("nothing could be measured" + (reason.empty() ? "" : ": " + reason));
    return exit_unexpected;
  }
  return 0;
}

int program(const Parameters &parameters, MPI_Comm communicator, Console &console)
{
  int n_ranks = 1;
  MPI_Comm_size(communicator, &n_ranks);
  if (n_ranks > 1)
    throw ParameterError("diagnose runs as one process, not " + std::to_string(n_ranks) +
        "; diagnose.threads sets its threads");
  prepare_directory(parameters.output.directory, communicator);
  const TableFiles files(parameters.output.directory, "diagnose");
  const auto write_files = [&](const Diagnosis &so_far) {
    files.write(
        communicator, [&](std::ostream &out) { write_csv(so_far, out); },
        [&](std::ostream &out) { write_json(so_far, out); });
  };
  const Diagnosis diagnosis = run_diagnosis(parameters, console, write_files);
  console.result(verdicts_text(diagnosis));
  console.result(bounds_text(diagnosis));
  console.result(missing_text(diagnosis));
  console.result("\ntime         " + format_number(diagnosis.seconds) + " s");
  for (const auto &[name, seconds] : diagnosis.class_seconds)
    console.result(", " + name + ' ' + format_number(seconds));
  console.result("\n");

  write_files(diagnosis);
  console.normal(files.text());
  return exit_code(diagnosis, console);
}
} // namespace tensormg::diagnose
