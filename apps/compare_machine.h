// What the machines of a comparison can do at most: measured in the same run, for the percentages.
#pragma once

#include <functional>
#include <map>
#include <string>

#include <mpi.h>

#include "apps/compare_table.h"

namespace tensormg
{
/// Median and spread of repeated timings in milliseconds.
struct Milliseconds
{
  double median = 0.;
  double fastest = 0.;
  double slowest = 0.;
  double spread = 0.; ///< distance of the quartiles
  int samples = 0;    ///< each of `runs` runs
  int runs = 1;
};

/// `time(runs)` is the time of `runs` runs in milliseconds. Runs that take less than a few
/// milliseconds are timed several at once. The first runs do not count, unless they alone take longer
/// than `max_seconds`.
Milliseconds measure(
    const std::function<double(int runs)> &time, int repetitions, double max_seconds);

struct Machine
{
  Place place = Place::host;
  std::string name;
  std::string driver;                 ///< of a device; empty: host
  std::string detail;                 ///< in words
  double scale_bandwidth = 0.;        ///< bytes per second
  std::map<peak::Unit, double> peaks; ///< flops, bytes or instructions per second

  double peak(peak::Unit unit) const
  {
    const auto entry = peaks.find(unit);
    return entry == peaks.end() ? 0. : entry->second;
  }
};

/// All ranks at the same time. Collective.
Machine measure_host(MPI_Comm communicator);

/// The first GPU; throws DeviceError if it cannot be used.
Machine measure_device();

/// The scale bandwidth once more.
double measure_scale(Place place, MPI_Comm communicator);
} // namespace tensormg
