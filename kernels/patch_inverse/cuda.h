// The `cuda` backend of the local inverse: CUDA cores, whole lines of tensors per thread (cuda_lines.cuh).
#pragma once

#include "kernels/device/cuda_function.h"
#include "kernels/patch_inverse/patch_inverse.h"

namespace tensormg::patch_inverse
{
/// For a size of kernels/tensor/sizes.h. Arithmetic in double for double, otherwise in float.
template <typename Number>
TENSORMG_CUDA_FUNCTION Kernel<Number> cuda_kernel(int dim, int n);
} // namespace tensormg::patch_inverse
