// The function of cuda_2d.h that select.cc names, in a build without CUDA: select() refuses before.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/device/device.h"
#include "kernels/laplace/strips_2d/strips_2d.h"

namespace tensormg::laplace
{
template <typename Number>
KernelResources cuda_2d_resources(Form, int)
{
  throw DeviceError("no device: " + why_no_device());
}

template KernelResources cuda_2d_resources<double>(Form, int);
template KernelResources cuda_2d_resources<float>(Form, int);
template KernelResources cuda_2d_resources<Half>(Form, int);
template KernelResources cuda_2d_resources<WideFloat>(Form, int);
} // namespace tensormg::laplace

#endif
