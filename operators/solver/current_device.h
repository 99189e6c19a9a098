// The device with which a thread works.
#pragma once

#include <optional>

#include "kernels/device/device.h"

namespace tensormg
{
/// Makes a device the current one of this thread for a while; nothing: there is none.
class CurrentDevice
{
public:
  explicit CurrentDevice(std::optional<int> device)
  {
    if (!device)
      return;
    before_ = device_properties().number;
    if (*before_ == *device)
      before_.reset();
    else
      use_device(*device);
  }
  CurrentDevice(const CurrentDevice &) = delete;
  CurrentDevice &operator=(const CurrentDevice &) = delete;
  ~CurrentDevice()
  {
    try
    {
      if (before_)
        use_device(*before_);
    }
    catch (const DeviceError &)
    {
      // Whoever works with it next is told.
    }
  }

private:
  std::optional<int> before_;
};
} // namespace tensormg
