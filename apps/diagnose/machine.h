// The ceilings of a machine, measured in the same run: what any kernel can at most get.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/common/measurement.h"
#include "apps/common/progress.h"
#include "apps/common/thread_team.h"
#include "kernels/diagnostics/peak/peak.h"
#include "kernels/diagnostics/roofline/roofline.h"
#include "kernels/diagnostics/stream/caches.h"
#include "kernels/diagnostics/stream/stream.h"

namespace tensormg::diagnose
{
/// One unit of the machine and the loop that keeps it busy.
struct CeilingRow
{
  const char *name; ///< "FP64 FMA", "FP16 mma"
  Place place;
  peak::Unit unit;
  /// The ceiling of the same type without tensor cores: alpha is the quotient of both. Empty: none.
  const char *plain;
  bool one_thread = false;    ///< on the host: for kernels that have only one
  const char *otherwise = ""; ///< the ceiling in its place on a device that lacks the unit
};

/// THE table of units.
std::span<const CeilingRow> ceiling_rows();

struct Ceiling
{
  const CeilingRow *row = nullptr;
  double rate = 0.; ///< flops, bytes or instructions per second, of the fastest run
  Milliseconds time;
  std::optional<double> clock_ghz; ///< of a device's multiprocessors meanwhile
};

/// One size of a sweep of a streaming kernel.
struct StreamSample
{
  stream::Operation operation = stream::Operation::scale;
  bool past_caches = false; ///< stores
  double bytes = 0.;        ///< of all arrays together
  double rate = 0.;         ///< bytes per second, median
};

/// One size of a sweep within a cache of a device, many passes in one launch.
struct CacheSample
{
  stream::Operation operation = stream::Operation::read;
  stream::Cache cache = stream::Cache::second;
  double bytes = 0.; ///< of all arrays together, of all multiprocessors
  double rate = 0.;  ///< bytes per second, median
};

struct Machine
{
  Place place = Place::host;
  std::string name;
  std::string driver; ///< of a device; empty: host
  std::string detail; ///< in words
  double theoretical_bandwidth =
      0.; ///< of a device's memory, by its clock and bus, per second; 0: not known
  std::vector<Ceiling> ceilings;
  std::vector<StreamSample> stream; ///< ascending sizes within an operation and kind of stores
  std::vector<CacheSample> caches;  ///< of a device, if all operations were asked for
  std::vector<std::string> remarks; ///< what makes these numbers uncertain

  /// Throws std::logic_error if the row of that name was not measured.
  const Ceiling &ceiling(const std::string &name) const;
  double rate(const std::string &name) const { return ceiling(name).rate; }
  /// The ceiling of `ceiling` over that of its plain row; nothing without one.
  std::optional<double> alpha(const std::string &ceiling) const;
  /// Of a[i] = q b[i] on arrays of so many bytes together, with the better kind of stores; between two
  /// sizes of the sweep in proportion to the logarithms.
  double scale_bandwidth(double bytes) const;
  /// That of the largest size: memory.
  double memory_bandwidth() const;
  /// The rates that hold for a kernel with this working set.
  roofline::Rates rates(const std::string &ceiling, double working_set) const;
};

/// What the measurement of a machine takes into account.
struct MachineOptions
{
  double memory_bytes = 512e6; ///< largest working set of the sweep
  bool all_operations = false; ///< read, write and copy as well as scale
  int repetitions = 10;
  double max_seconds = 0.5;
  Progress *progress = nullptr;
  void begin(const std::string &step) const
  {
    if (progress != nullptr)
      progress->begin(step);
  }
};

/// A remark if all threads together are hardly faster than one alone, or slower; empty if not. `cores` are those that the process may use.
std::string remark_on_threads(const Machine &machine, int threads, int cores);

Machine measure_host(ThreadTeam &team, const MachineOptions &options);

/// The first GPU; throws DeviceError if it cannot be used.
Machine measure_device(const MachineOptions &options);

/// The bandwidth of memory once more.
double measure_memory_again(
    const Machine &machine, ThreadTeam &team, const MachineOptions &options);
} // namespace tensormg::diagnose
