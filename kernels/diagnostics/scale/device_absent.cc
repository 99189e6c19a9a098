// What scale.h declares for a device, in a build without CUDA. With CUDA, the files *.cu take its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/diagnostics/scale/scale.h"

namespace tensormg::scale
{
namespace
{
  [[noreturn]] void fail() { throw DeviceError("no device: " + why_no_device()); }
} // namespace

template <typename Number>
void cuda(std::int64_t, double, const Number *, Number *, Stream)
{
  fail();
}
void mma_m8n8k4(std::int64_t, double, const double *, double *, Stream) { fail(); }
void mma_m16n8k4(std::int64_t, double, const double *, double *, Stream) { fail(); }
void mma_tf32(std::int64_t, double, const float *, float *, Stream) { fail(); }
void mma_fp16(std::int64_t, double, const Half *, Half *, Stream) { fail(); }
void wmma(std::int64_t, double, const double *, double *, Stream) { fail(); }
void wmma_tf32(std::int64_t, double, const float *, float *, Stream) { fail(); }
void wmma_fp16(std::int64_t, double, const Half *, Half *, Stream) { fail(); }

template void cuda(std::int64_t, double, const double *, double *, Stream);
template void cuda(std::int64_t, double, const float *, float *, Stream);
template void cuda(std::int64_t, double, const Half *, Half *, Stream);
} // namespace tensormg::scale

#endif
