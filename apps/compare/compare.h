// `tensormg compare`: the operator in all its implementations side by side, each checked against the
// reference before it is timed, and how far each is from what the machine can do.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mpi.h>

#include "apps/common/console.h"
#include "apps/common/measurement.h"
#include "apps/compare/clock.h"
#include "apps/compare/counters.h"
#include "apps/compare/machine.h"
#include "apps/compare/table.h"
#include "apps/parameters/parameters.h"

namespace tensormg
{
/// One line of the comparison. Of an entry of the device only rank 0 knows the results.
struct CompareEntry
{
  Choice choice;
  Outcome outcome = Outcome::not_available;
  std::string reason; ///< why it is not measured

  // Of what is available:
  Place place = Place::host;
  peak::Unit unit = peak::Unit::fp64;
  std::array<std::int64_t, 3> cells{1, 1, 1}; ///< of one rank
  std::int64_t dofs = 0;                      ///< of all ranks
  double tolerance = 0.;
  std::optional<double> error; ///< unknown if the check itself ended with an error
  Milliseconds time;
  laplace::Work work{0., 0.}; ///< per degree of freedom
  std::optional<Resources> resources;
  std::optional<double> instructions_per_dof; ///< of one thread each, by the counters of the device
  UnderLoad under_load;                       ///< of the device

  double seconds() const { return 1e-3 * time.median; }
  double bytes() const { return work.bytes * static_cast<double>(dofs); }
  double flops() const { return work.flops * static_cast<double>(dofs); }
  double dofs_per_second() const { return static_cast<double>(dofs) / seconds(); }
  std::optional<double> lasting_dofs_per_second() const
  {
    return under_load.lasting
        ? std::optional(1e3 * static_cast<double>(dofs) / under_load.lasting->milliseconds)
        : std::nullopt;
  }
};

struct Comparison
{
  Parameters parameters;
  std::string date;    ///< UTC, begin of the run
  std::string command; ///< as the user types it
  int ranks = 1;
  std::vector<Machine> machines; ///< the host, and the device if there is one
  std::string no_device;         ///< why there is none
  std::string no_counters; ///< why instructions on the device are not counted; empty if they are
  std::vector<CompareEntry> entries;
  bool complete = false; ///< the run has come to its end

  const Machine &machine(Place place) const;
  /// The yardstick of the run: the device's, or the host's if there is no device.
  const Machine &main_machine() const { return machines.back(); }
};

inline constexpr std::array bound_names{"memory", "shared memory", "issue", "arithmetic"};

/// The time that one resource of the machine alone would need for an entry.
struct Bound
{
  const char *name; ///< one of bound_names
  double milliseconds;
};

/// Those that are known for the entry.
std::vector<Bound> predict(const CompareEntry &entry, const Machine &machine);

/// Of the bound of this name, if it is among them.
std::optional<double> predicted_milliseconds(
    const std::vector<Bound> &bounds, std::string_view name);

/// The largest of them.
Bound tightest_bound(const CompareEntry &entry, const Machine &machine);

/// A bound holds if it explains this part of the time.
inline constexpr double bound_holds_from = 0.8;

double percent_of_scale(const CompareEntry &entry, const Machine &machine);
double percent_of_peak(const CompareEntry &entry, const Machine &machine);

/// Checks and times one entry, and counts the instructions of one on the device if there is a counter. Collective.
CompareEntry run_entry(const Choice &choice, const CompareOptions &options, MPI_Comm communicator,
    InstructionCounter *counter = nullptr);

/// All entries in the order of the lists; shows each as soon as it is there. `keep` gets what is known after each one
/// that was checked, so that a run that is stopped later was not in vain. Collective.
Comparison run_comparison(const Parameters &parameters, MPI_Comm communicator, Console &console,
    const std::function<void(const Comparison &)> &keep = {});

/// exit_check_failed if an entry failed, exit_unexpected if none could be measured, otherwise 0; says
/// so. Collective.
int compare_exit_code(const Comparison &comparison, MPI_Comm communicator, Console &console);

/// The program after its parameters: the comparison, compare.json and compare.csv, and the exit code.
int compare_program(const Parameters &parameters, MPI_Comm communicator, Console &console);
} // namespace tensormg
