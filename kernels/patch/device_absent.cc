// The device functions of cuda.h, in a build without CUDA: select_device() refuses before.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/patch/cuda.h"

namespace tensormg::patch
{
template <typename Number>
DeviceKernel<Number> correct_lines(int, int)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
DeviceKernel<Number> correct_tensor(int, int)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
void extrapolate_cuda(std::int64_t, double, Number *, Number *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
void copy_uncovered_cuda(const Block &, const Patches &, const Number *, Number *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template DeviceKernel<double> correct_lines(int, int);
template DeviceKernel<float> correct_lines(int, int);
template DeviceKernel<Half> correct_lines(int, int);
template DeviceKernel<double> correct_tensor(int, int);
template DeviceKernel<float> correct_tensor(int, int);
template DeviceKernel<Half> correct_tensor(int, int);
template void extrapolate_cuda(std::int64_t, double, double *, double *, Stream);
template void extrapolate_cuda(std::int64_t, double, float *, float *, Stream);
template void extrapolate_cuda(std::int64_t, double, Half *, Half *, Stream);
template void copy_uncovered_cuda(const Block &, const Patches &, const double *, double *, Stream);
template void copy_uncovered_cuda(const Block &, const Patches &, const float *, float *, Stream);
template void copy_uncovered_cuda(const Block &, const Patches &, const Half *, Half *, Stream);
} // namespace tensormg::patch

#endif
