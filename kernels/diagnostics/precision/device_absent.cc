// What device.h declares for a device, in a build without CUDA. With CUDA, device.cu takes its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/diagnostics/precision/device.h"

namespace tensormg::precision
{
void device_dots(
    DeviceMethod, std::int64_t, std::int64_t, const float *, const float *, double *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

void device_sums(
    TensorUnit, std::int64_t, const double *, const double *, const double *, double *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}
} // namespace tensormg::precision

#endif
