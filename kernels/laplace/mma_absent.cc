// The functions of mma.h that select.cc names, in a build without CUDA: select() refuses before.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/device/device.h"
#include "kernels/laplace/mma.h"

namespace tensormg::laplace
{
Apply<Half> *mma_instance(Form, int) { throw DeviceError("no device: " + why_no_device()); }
KernelResources mma_resources(Form, int, std::int64_t)
{
  throw DeviceError("no device: " + why_no_device());
}
Apply<Half> *mma_accurate_residual(int) { throw DeviceError("no device: " + why_no_device()); }
KernelResources mma_accurate_residual_resources(int)
{
  throw DeviceError("no device: " + why_no_device());
}
} // namespace tensormg::laplace

#endif
