// Which clock an entry of `tensormg compare` was timed at, and what it does while the device is busy for long.
#pragma once

#include <functional>
#include <optional>

#include "apps/common/measurement.h"

namespace tensormg
{
/// Mean clock of the multiprocessors between two moments.
struct CoreClock
{
  std::function<void()> start;
  /// Since start(); unknown if the device does not tell.
  std::function<std::optional<double>()> gigahertz;
};

/// That of the current device.
CoreClock device_clock();

/// What measure() does not tell.
struct UnderLoad
{
  std::optional<double> burst_gigahertz; ///< in a burst as those that are timed
  struct Lasting
  {
    double milliseconds = 0.; ///< of a run
    std::optional<double> gigahertz;
  };
  /// Of the second half of some time without pauses: power and heat have then lowered the clock if they do.
  std::optional<Lasting> lasting;
};

/// `time` as in measure(), `pace` and `runs` of what was timed. After a pause a burst of warm-up and `runs` runs, then as many as
/// fill `lasting_seconds`, unless that is 0 or one of them alone takes half of it.
UnderLoad measure_under_load(const std::function<double(int runs)> &time, const CoreClock &clock,
    int runs, const Pace &pace, double lasting_seconds);
} // namespace tensormg
