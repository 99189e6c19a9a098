// The `wmma` backend of the nodal operator: tensor cores by nvcuda::wmma (wmma.cuh).
#pragma once

#include "kernels/device/cuda_function.h"
#include "kernels/diagnostics/nodal/nodal.h"

namespace tensormg::nodal
{
/// For a size of kernels/tensor/sizes.h and the variant's arithmetic: FP64, FP16, or for floats TF32 and the two-term splits.
template <typename Number>
TENSORMG_CUDA_FUNCTION Kernel<Number> wmma_kernel(const Variant &variant, int dim, int n);
} // namespace tensormg::nodal
