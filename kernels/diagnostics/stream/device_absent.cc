// What stream.h declares for a device, in a build without CUDA. With CUDA, cuda.cu takes its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/diagnostics/stream/caches.h"

namespace tensormg::stream
{
std::int64_t n_sums(std::int64_t) { throw DeviceError("no device: " + why_no_device()); }

void cuda(Operation, std::int64_t, double, const double *, double *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

void cuda_slices(Operation, Cache, int, std::int64_t, int, double, const double *, double *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}
} // namespace tensormg::stream

#endif
