// What sliced.h declares for a device, in a build without CUDA. With CUDA, sliced.cu takes its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/diagnostics/spmv/sliced.h"

namespace tensormg::spmv
{
void cuda_sliced_mma(const Sliced<double> &, const double *, double *, double *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

void cuda_sliced_mma_m16n8k4(const Sliced<double> &, const double *, double *, double *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

void cuda_sliced_mma(const Sliced<Half> &, const Half *, float *, float *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
void cuda_sliced_fma(
    const Sliced<Number> &, const Number *, Compute<Number> *, Compute<Number> *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template void cuda_sliced_fma(const Sliced<double> &, const double *, double *, double *, Stream);
template void cuda_sliced_fma(const Sliced<float> &, const float *, float *, float *, Stream);
template void cuda_sliced_fma(const Sliced<Half> &, const Half *, float *, float *, Stream);
} // namespace tensormg::spmv

#endif
