// What the machines of a comparison can do at most: measured in the same run, for the percentages.
#pragma once

#include <map>
#include <string>

#include <mpi.h>

#include "apps/common/measurement.h"
#include "apps/compare/table.h"

namespace tensormg
{
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
