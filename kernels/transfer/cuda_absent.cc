// What cuda.h declares, in a build without CUDA. With CUDA, cuda_*.cu take its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/transfer/cuda.h"

namespace tensormg::transfer
{
template <typename Number>
void prolongate_cuda(const Prolongate<Number> &, Stream, Compute<Number> *)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
void restrict_cuda(const Restrict<Number> &, Stream, Compute<Number> *)
{
  throw DeviceError("no device: " + why_no_device());
}

template void prolongate_cuda(const Prolongate<double> &, Stream, double *);
template void prolongate_cuda(const Prolongate<float> &, Stream, float *);
template void prolongate_cuda(const Prolongate<Half> &, Stream, float *);
template void restrict_cuda(const Restrict<double> &, Stream, double *);
template void restrict_cuda(const Restrict<float> &, Stream, float *);
template void restrict_cuda(const Restrict<Half> &, Stream, float *);
} // namespace tensormg::transfer

#endif
