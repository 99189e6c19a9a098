// What smallmat.h declares for a device, in a build without CUDA. With CUDA, cuda.cu takes its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/diagnostics/smallmat/smallmat.h"

namespace tensormg::smallmat
{
void cuda(Task, Unit, int, std::int64_t, const double *, const double *, double *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}
} // namespace tensormg::smallmat

#endif
