// What the current device can do with the code of this build.
#pragma once

#include "kernels/device/device.h"

namespace tensormg::tensor
{
/// Compute capability times ten of the code that runs on it. Throws DeviceError without a device.
inline int device_capability()
{
  static const int capability = device_properties().code_capability;
  return capability;
}

/// The same; without a device what every kernel runs on, since one may ask although nothing will run.
inline int device_capability_if_any() { return device_count() > 0 ? device_capability() : 90; }
} // namespace tensormg::tensor
