// The device functions that select.cc names, in a build without CUDA: select() refuses before.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/patch_inverse/cuda.h"
#include "kernels/patch_inverse/mma.h"

namespace tensormg::patch_inverse
{
template <typename Number>
Kernel<Number> cuda_kernel(int, int)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
Kernel<Number> mma_registers(tensor::Arithmetic, int, int)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
Kernel<Number> mma_staged(tensor::Arithmetic, int, int)
{
  throw DeviceError("no device: " + why_no_device());
}

Kernel<double> mma_staged_m8n8k4(tensor::Arithmetic, int, int)
{
  throw DeviceError("no device: " + why_no_device());
}

template Kernel<double> cuda_kernel(int, int);
template Kernel<float> cuda_kernel(int, int);
template Kernel<Half> cuda_kernel(int, int);
template Kernel<double> mma_registers(tensor::Arithmetic, int, int);
template Kernel<float> mma_registers(tensor::Arithmetic, int, int);
template Kernel<Half> mma_registers(tensor::Arithmetic, int, int);
template Kernel<double> mma_staged(tensor::Arithmetic, int, int);
template Kernel<float> mma_staged(tensor::Arithmetic, int, int);
template Kernel<Half> mma_staged(tensor::Arithmetic, int, int);
} // namespace tensormg::patch_inverse

#endif
