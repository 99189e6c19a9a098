// What the driver counts of a device's energy.
#pragma once

#include <memory>
#include <optional>

namespace tensormg
{
/// The energy counter of the current device, by NVML (libnvidia-ml.so.1, loaded when it is needed). Volta and
/// later have one. It counts the whole board, and the driver renews it at intervals: short work is not resolved.
class EnergyCounter
{
public:
  /// Never throws: without library, device or counter, joules() has nothing.
  EnergyCounter() noexcept;
  ~EnergyCounter();
  EnergyCounter(const EnergyCounter &) = delete;
  EnergyCounter &operator=(const EnergyCounter &) = delete;

  /// Since the driver was loaded.
  std::optional<double> joules() const noexcept;

private:
  struct Library;
  std::unique_ptr<Library> library_;
};
} // namespace tensormg
