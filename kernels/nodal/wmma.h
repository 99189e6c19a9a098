// The `wmma` backend of the nodal operator: tensor cores by nvcuda::wmma (wmma.cuh).
#pragma once

#include "kernels/nodal/nodal.h"

namespace tensormg::nodal
{
/// For a size of kernels/tensor/sizes.h. FP64, TF32 or FP16, as the number type says.
template <typename Number>
Kernel<Number> wmma_kernel(int dim, int n);
} // namespace tensormg::nodal
