#include "apps/diagnose.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "apps/diagnose_classes.h"
#include "apps/diagnose_counters.h"
#include "apps/diagnose_report.h"
#include "apps/diagnose_run.h"
#include "apps/output.h"
#include "apps/parameter_words.h"
#include "apps/program.h"
#include "kernels/peak/clock.h"
#include "operators/sparse/matrix_market.h"

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

  MachineOptions machine_options(const DiagnoseOptions &options)
  {
    MachineOptions result;
    result.memory_bytes = 1e6 * options.memory_megabytes;
    const std::vector<std::string> &classes = options.classes;
    result.all_operations = std::find(classes.begin(), classes.end(), "ceilings") != classes.end();
    result.repetitions = std::min(options.repetitions, 10);
    result.max_seconds = options.max_seconds;
    return result;
  }

  /// The files of class spmv, before anything is measured: a mistake in one should not cost a run.
  std::vector<MatrixFile> read_matrix_files(const DiagnoseOptions &options)
  {
    std::vector<MatrixFile> files;
    if (std::find(options.classes.begin(), options.classes.end(), "spmv") != options.classes.end())
      for (const std::string &path : options.matrix_files)
        try
        {
          files.push_back({path, sparse::read_matrix_market(path)});
        }
        catch (const sparse::MatrixMarketError &error)
        {
          throw ParameterError(error.what());
        }
    return files;
  }

  /// Measures what kernels will be compared with.
  void measure_machines(Diagnosis &diagnosis, const DiagnoseOptions &options, ThreadTeam &team)
  {
    const MachineOptions what = machine_options(options);
    if (diagnosis.wants(Place::device))
      try
      {
        diagnosis.machines.push_back(measure_device(what));
      }
      catch (const DeviceError &error)
      {
        diagnosis.no_device = error.what();
      }
    if (diagnosis.wants(Place::host))
      diagnosis.machines.push_back(measure_host(team, what));
  }

  /// A yardstick that changed makes percentages uncertain.
  void check_memory_again(const Diagnosis &diagnosis, const DiagnoseOptions &options,
      ThreadTeam &team, Console &console)
  {
    for (const Machine &machine : diagnosis.machines)
    {
      const double before = machine.memory_bandwidth();
      const double again = measure_memory_again(machine, team, machine_options(options));
      if (std::abs(again / before - 1.) > 0.05)
        console.warning("the scale bandwidth of the " + std::string(place_word(machine.place)) +
            " was " + format_number(1e-9 * before) + " GB/s at the begin of the run and is " +
            format_number(1e-9 * again) + " GB/s at its end: percentages are uncertain by that");
    }
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

void measure_entry(Entry &entry, Candidate &candidate, const DiagnoseOptions &options)
{
  entry.outcome = Outcome::failed;
  try
  {
    entry.work = candidate.work();
    entry.executed_flops = candidate.executed_flops();
    entry.shared_bytes = candidate.shared_bytes();
    entry.working_set = candidate.working_set();
    entry.items = candidate.items();
    entry.tolerance *= candidate.error_growth();
    entry.error = candidate.error();
    if (!(*entry.error <= entry.tolerance))
    {
      entry.reason = "differs from the reference by " + format_residual(*entry.error) +
          ", allowed is " + format_residual(entry.tolerance);
      return;
    }
    std::optional<peak::ClockMeter> meter;
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

Diagnosis run_diagnosis(const Parameters &parameters, Console &console,
    const std::function<void(const Diagnosis &)> &keep)
{
  const DiagnoseOptions options = effective(parameters.diagnose);
  const RunClock clock(options.time_limit);
  Diagnosis diagnosis;
  diagnosis.parameters = parameters;
  diagnosis.date = utc_now();
  diagnosis.command = command_line("diagnose", 1);
  const std::vector<MatrixFile> matrix_files = read_matrix_files(options);
  ThreadTeam team(options.threads);
  console.normal("machines     measuring what they can do ...\n");
  measure_machines(diagnosis, options, team);
  console.normal(machines_text(diagnosis));
  if (diagnosis.machines.empty())
  {
    diagnosis.complete = true;
    return diagnosis;
  }
  const double of_machines = clock.elapsed();
  RunCounters counters(options.counters);
  Run run{diagnosis, options, team, console, matrix_files, clock, &counters};
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
    if (row.run != nullptr)
      row.run(run);
    // Class ceilings prints what was measured of the machines.
    diagnosis.class_seconds.emplace_back(
        name, clock.elapsed() - begin + (name == "ceilings" ? of_machines : 0.));
    diagnosis.seconds = clock.elapsed();
    diagnosis.no_counters = counters.trouble();
    if (keep)
      keep(diagnosis);
  }
  check_memory_again(diagnosis, options, team, console);
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
    console.error("nothing could be measured" +
        (diagnosis.no_device.empty() ? std::string() : ": " + diagnosis.no_device));
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
