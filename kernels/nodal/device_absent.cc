// The device functions that select.cc names, in a build without CUDA: select() refuses before.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/nodal/cuda.h"

namespace tensormg::nodal
{
template <typename Number>
Kernel<Number> cuda_kernel(int, int)
{
  throw DeviceError("no device: " + why_no_device());
}

template Kernel<double> cuda_kernel(int, int);
template Kernel<float> cuda_kernel(int, int);
template Kernel<Half> cuda_kernel(int, int);
} // namespace tensormg::nodal

#endif
