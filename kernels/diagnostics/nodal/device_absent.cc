// The device functions that select.cc names, in a build without CUDA: select() refuses before.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/diagnostics/nodal/cuda.h"
#include "kernels/diagnostics/nodal/mma.h"
#include "kernels/diagnostics/nodal/wmma.h"

namespace tensormg::nodal
{
template <typename Number>
Kernel<Number> cuda_kernel(int, int)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
Kernel<Number> mma_registers(const Variant &, int, int)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
Kernel<Number> mma_staged(const Variant &, int, int)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
Kernel<Number> mma_staged_compared(const Variant &, int, int)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
Kernel<Number> wmma_kernel(const Variant &, int, int)
{
  throw DeviceError("no device: " + why_no_device());
}

Kernel<Half> mma_chained() { throw DeviceError("no device: " + why_no_device()); }

template Kernel<double> wmma_kernel(const Variant &, int, int);
template Kernel<float> wmma_kernel(const Variant &, int, int);
template Kernel<Half> wmma_kernel(const Variant &, int, int);
template Kernel<double> mma_registers(const Variant &, int, int);
template Kernel<float> mma_registers(const Variant &, int, int);
template Kernel<Half> mma_registers(const Variant &, int, int);
template Kernel<double> mma_staged(const Variant &, int, int);
template Kernel<float> mma_staged(const Variant &, int, int);
template Kernel<Half> mma_staged(const Variant &, int, int);
template Kernel<double> mma_staged_compared(const Variant &, int, int);
template Kernel<float> mma_staged_compared(const Variant &, int, int);
template Kernel<Half> mma_staged_compared(const Variant &, int, int);
template Kernel<double> cuda_kernel(int, int);
template Kernel<float> cuda_kernel(int, int);
template Kernel<Half> cuda_kernel(int, int);
} // namespace tensormg::nodal

#endif
