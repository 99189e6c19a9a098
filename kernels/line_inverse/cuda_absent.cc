// The passes in device memory in a build without CUDA. With CUDA, cuda.cu takes its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/line_inverse/line_inverse.h"

namespace tensormg::line_inverse
{
template <typename Src, typename C>
void rotate_cuda(const Rotate<Src, C> &, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
void rotate_and_add_cuda(const RotateAndAdd<Number> &, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template void rotate_cuda(const Rotate<double, double> &, Stream);
template void rotate_cuda(const Rotate<float, float> &, Stream);
template void rotate_cuda(const Rotate<Half, float> &, Stream);
template void rotate_and_add_cuda(const RotateAndAdd<double> &, Stream);
template void rotate_and_add_cuda(const RotateAndAdd<float> &, Stream);
template void rotate_and_add_cuda(const RotateAndAdd<Half> &, Stream);
} // namespace tensormg::line_inverse

#endif
