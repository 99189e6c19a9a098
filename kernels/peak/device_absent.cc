// What peak.h declares for a device, in a build without CUDA. With CUDA, cuda.cu takes its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/peak/peak.h"

namespace tensormg::peak
{
bool device_has(Unit) { return false; }

std::int64_t cuda_sink_size() { throw DeviceError("no device: " + why_no_device()); }

double cuda(Unit, int, double *, Stream) { throw DeviceError("no device: " + why_no_device()); }
} // namespace tensormg::peak

#endif
