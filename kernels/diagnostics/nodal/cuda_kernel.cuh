// All sizes of the `cuda` backend. Included by cuda_double.cu, cuda_float.cu, cuda_half.cu only.
#pragma once

#include "kernels/diagnostics/nodal/cuda.h"
#include "kernels/diagnostics/nodal/cuda_lines.cuh"
#include "kernels/tensor/sizes_dispatch.h"

namespace tensormg::nodal
{
template <typename Number>
Kernel<Number> cuda_kernel(int dim, int n)
{
  return tensor::dispatch_size<Kernel<Number>, tensor::Sizes::all>(
      dim, n, [](auto size) { return line_kernel<Number, size.dim, size.n>(); });
}
} // namespace tensormg::nodal
