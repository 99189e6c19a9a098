// CONTRACT of the clock meter: at which clock the multiprocessors of a device ran between two moments, on average. Heat and
// power lower it under load; a ceiling that was measured at another clock says little then.
//
// Multiprocessors count their cycles all the time, whatever runs on them: a small kernel reads the counters and the time at
// either moment.
// Tests: tests/kernels/diagnostics/peak/device_test.cu.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/device/device.h"

namespace tensormg
{
/// What a multiprocessor has counted.
struct ClockReading
{
  unsigned multiprocessor;
  long long cycles;
  unsigned long long nanoseconds;
};

class ClockMeter
{
public:
  /// For the current device. Never throws: without one there are no clocks.
  ClockMeter() noexcept;
  /// Waits until all readings are there, as does gigahertz().
  void start() noexcept;
  /// Since start(), the mean of the multiprocessors; it should be a millisecond or more.
  std::optional<double> gigahertz() noexcept;

private:
  DeviceArray<ClockReading> readings_;
  std::vector<ClockReading> begin_; ///< none if that did not work
};
} // namespace tensormg
