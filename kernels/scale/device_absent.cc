// What scale.h declares for a device, in a build without CUDA. With CUDA, cuda.cu takes its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/scale/scale.h"

namespace tensormg::scale
{
void cuda(std::int64_t, double, const double *, double *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}
} // namespace tensormg::scale

#endif
