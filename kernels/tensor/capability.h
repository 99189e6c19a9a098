// What the current device can do.
#pragma once

#include "kernels/core/device.h"

namespace tensormg::tensor
{
/// Compute capability times ten. Throws DeviceError without a device.
inline int device_capability()
{
  static const int capability = [] {
    const DeviceProperties properties = device_properties();
    return 10 * properties.major + properties.minor;
  }();
  return capability;
}
} // namespace tensormg::tensor
