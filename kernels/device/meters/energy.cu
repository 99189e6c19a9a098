#include "kernels/device/meters/energy.h"

#include <exception>

#include <cuda_runtime.h>

#include "kernels/device/cuda_check.h"
#include "kernels/device/shared_library.h"

namespace tensormg
{
// NVML's functions by their documented types: its header is no part of a toolkit without the driver's package.
struct EnergyCounter::Library
{
  using Status = int; ///< 0: success
  using Device = struct nvmlDevice_st *;

  SharedLibrary file{"NVML", "libnvidia-ml.so.1"};
  Status (*shut_down)() = nullptr;
  Status (*total_energy)(Device, unsigned long long *) = nullptr;
  Device device = nullptr;

  Library()
  {
    Status (*start)() = nullptr;
    Status (*find_device)(const char *, Device *) = nullptr;
    file.find("nvmlInit_v2", start);
    file.find("nvmlShutdown", shut_down);
    file.find("nvmlDeviceGetHandleByPciBusId_v2", find_device);
    file.find("nvmlDeviceGetTotalEnergyConsumption", total_energy);
    if (start() != 0)
      throw DeviceError("NVML does not start");
    int current = 0;
    char bus[32] = {};
    if (cudaGetDevice(&current) != cudaSuccess ||
        cudaDeviceGetPCIBusId(bus, sizeof(bus), current) != cudaSuccess ||
        find_device(bus, &device) != 0)
    {
      shut_down();
      throw DeviceError("NVML does not know the device");
    }
  }
  ~Library() { shut_down(); }
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;
};

EnergyCounter::EnergyCounter() noexcept
{
  try
  {
    library_ = std::make_unique<Library>();
  }
  catch (const std::exception &)
  {
    library_.reset();
  }
}

EnergyCounter::~EnergyCounter() = default;

std::optional<double> EnergyCounter::joules() const noexcept
{
  unsigned long long millijoules = 0;
  if (!library_ || library_->total_energy(library_->device, &millijoules) != 0)
    return std::nullopt;
  return 1e-3 * static_cast<double>(millijoules);
}
} // namespace tensormg
