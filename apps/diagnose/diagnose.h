// `tensormg diagnose`: which kinds of kernels gain from tensor cores on this machine, and what bounds the
// rest. Every kernel is checked before it is timed, and its time is shown beside what theory predicts.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "apps/common/console.h"
#include "apps/common/measurement.h"
#include "apps/diagnose/machine.h"
#include "apps/diagnose/precision/quantisation.h"
#include "apps/diagnose/table.h"
#include "apps/parameters/parameters.h"
#include "kernels/diagnostics/counters/counters.h"
#include "kernels/diagnostics/precision/adder_probe.h"

namespace tensormg::diagnose
{
/// One kernel on one problem.
struct Entry
{
  std::string class_name;                 ///< "scale"
  std::string problem;                    ///< "16 MB"
  std::string kernel, precision, ceiling; ///< of the row
  std::vector<std::string> twins;         ///< that the row names
  std::string twin;                       ///< the fastest of them
  Place place = Place::host;
  Outcome outcome = Outcome::not_available;
  std::string reason; ///< why it is not measured

  double tolerance = 0.;
  std::optional<double> error; ///< unknown if the check itself ended with an error
  Milliseconds time;
  Work work; ///< useful flops, compulsory bytes
  double executed_flops = 0.;
  double shared_bytes = 0.; ///< through shared memory; 0: not counted
  double working_set = 0.;
  std::optional<double> clock_ghz; ///< of the device's multiprocessors while it was timed
  Items items;                     ///< useful ones
  std::vector<Figure> figures;
  std::vector<std::string> library_kernels; ///< that a library chose
  /// Time of the twin over own time, measured by turns; only where the two are close.
  std::optional<double> gain_by_turns;
  std::optional<counters::Use> counters; ///< of the device

  double seconds() const { return 1e-3 * time.median; }
};

/// The error of one way to multiply matrices in low precision.
struct Accuracy
{
  std::string method;  ///< "TF32"
  std::string range;   ///< of the factors' entries: "1e-4 to 1e4"
  std::int64_t length; ///< of the sums
  double error = 0.;   ///< largest, relative to sum |a| |b|
  double expected =
      0.; ///< the a-priori bound of the same, if all factors are in the format's range
  bool in_range = true;      ///< they are
  std::string remark;        ///< "12 % of the factors overflow"
  Place place = Place::host; ///< device: measured, by its units; host: the model
  bool is_wrong() const { return in_range && !(error <= expected); }
};

/// What the adder of a unit does.
struct AdderEntry
{
  std::string unit; ///< "FP16 mma m16n8k16"
  precision::AdderProperties properties;
};

/// The kernels that cuBLAS takes for a product.
struct LibraryProduct
{
  std::string type, size, alignment;
  std::vector<std::string> kernels;
  std::optional<bool> on_tensor_cores; ///< unknown if no name tells
  std::string reason;                  ///< why there are no names
};

/// One run of the program.
struct Diagnosis
{
  Parameters parameters;
  std::string date;    ///< UTC, begin of the run
  std::string command; ///< as the user types it
  std::vector<Machine> machines;
  std::string no_device;   ///< why none was used; empty: one was
  std::string no_counters; ///< why there are none, or no further ones
  std::vector<Entry> entries;
  std::vector<Accuracy> accuracies;
  std::vector<AdderEntry> adders;
  std::vector<LibraryProduct> library_products;
  std::vector<Quantisation> quantisations;
  double seconds = 0.;                                       ///< that the whole run took
  std::vector<std::pair<std::string, double>> class_seconds; ///< that each class took
  bool complete = false;                                     ///< the run has come to its end

  bool wants(Place place) const;
  const Machine &machine(Place place) const;
  /// Of an entry, the measured one that its twin names; nullptr if there is none.
  const Entry *twin_of(const Entry &entry) const;
};

/// What theory says about the time of an entry, in milliseconds.
struct Prediction
{
  double arithmetic = 0.; ///< executed flops / rate of the unit
  double transfer = 0.;   ///< compulsory bytes / bandwidth of scale on this working set
  double shared = 0.;     ///< bytes through shared memory / its bandwidth; 0: not counted
  /// The clock at which the ceiling of the unit was measured, over that of the kernel: what power and heat took. At least 1; 1
  /// where one of them is unknown.
  double slowdown = 1.;
  double overlapped() const;
  double unoverlapped() const { return arithmetic + transfer; }
  /// Overlapped, with arithmetic and shared memory at the clock that the kernel ran at.
  double at_clock() const;
  const char *bound() const;
};
Prediction predict(const Entry &entry, const Machine &machine);

/// Kernel and twin that arithmetic bounds are measured again by turns if their times differ by no more than this factor: the clock changes
/// by some percent in a run of minutes, as heat and power do.
inline constexpr double close_call = 1.25;

/// A bound holds if it explains this part of the time.
inline constexpr double bound_holds_from = 0.8;

/// What kernels should reach of the best prediction.
inline constexpr double target = 0.9;

/// An entry with tensor cores against its twin on the plain unit.
struct Gain
{
  double measured = 0.;     ///< time of the twin / own time
  bool is_by_turns = false; ///< it was measured by turns
  double alpha = 1.;        ///< of the units
  double bound = 1.;        ///< un-overlapped, for useful flops
  double most = 1.;         ///< the same for a unit without limit, 1 + I / B
  double limit = 1.;        ///< 2 - 2 / (1 + alpha) if memory-bound, otherwise alpha
  double overlapped = 1., unoverlapped = 1.; ///< predictions, with the flops that each executes
};
std::optional<Gain> gain(const Entry &entry, const Diagnosis &diagnosis);

/// The options of a run: lists cut short if it shall be quick, "all" and automatic values replaced.
DiagnoseOptions effective(const DiagnoseOptions &options);

/// Everything the parameters ask for; shows each entry as soon as it is there. `keep` gets what is known after each class,
/// so that a run that is stopped later was not in vain.
Diagnosis run_diagnosis(const Parameters &parameters, Console &console,
    const std::function<void(const Diagnosis &)> &keep = {});

/// exit_check_failed if an entry failed, exit_unexpected if nothing was measured, otherwise 0; says so.
int exit_code(const Diagnosis &diagnosis, Console &console);

/// The program after its parameters: the diagnosis, diagnose.json and diagnose.csv, and the exit code.
int program(const Parameters &parameters, MPI_Comm communicator, Console &console);
} // namespace tensormg::diagnose
