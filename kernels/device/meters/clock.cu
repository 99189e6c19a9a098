#include "kernels/device/meters/clock.h"

#include <exception>

#include "kernels/device/cuda_check.h"
#include "kernels/device/multiprocessor.cuh"

namespace tensormg
{
namespace
{
  constexpr int blocks_per_multiprocessor = 4; ///< so that each has one

  __global__ void read_clocks(ClockReading *readings)
  {
    if (threadIdx.x == 0)
      readings[blockIdx.x] = {multiprocessor(), clock64(), nanoseconds()};
  }

  /// Empty if it cannot be done.
  std::vector<ClockReading> read(DeviceArray<ClockReading> &readings)
  {
    std::vector<ClockReading> host(static_cast<std::size_t>(readings.size()));
    if (host.empty())
      return host;
    read_clocks<<<static_cast<unsigned>(host.size()), 32>>>(readings.data());
    check_launch("reading the clocks");
    readings.copy_to_host(host.data());
    return host;
  }
} // namespace

ClockMeter::ClockMeter() noexcept
{
  try
  {
    if (device_count() > 0)
      readings_ = DeviceArray<ClockReading>(
          std::int64_t(blocks_per_multiprocessor) * device_properties().multiprocessors);
  }
  catch (const std::exception &)
  {
    readings_ = {};
  }
}

void ClockMeter::start() noexcept
{
  try
  {
    begin_ = read(readings_);
  }
  catch (const std::exception &)
  {
    begin_.clear();
  }
}

std::optional<double> ClockMeter::gigahertz() noexcept
{
  try
  {
    double sum = 0.;
    int count = 0;
    for (const ClockReading &after : read(readings_))
      for (const ClockReading &before : begin_)
        if (before.multiprocessor == after.multiprocessor && after.cycles > before.cycles &&
            after.nanoseconds > before.nanoseconds)
        {
          sum += static_cast<double>(after.cycles - before.cycles) /
              static_cast<double>(after.nanoseconds - before.nanoseconds);
          ++count;
          break;
        }
    return count == 0 ? std::nullopt : std::optional(sum / count);
  }
  catch (const std::exception &)
  {
    return std::nullopt;
  }
}
} // namespace tensormg
