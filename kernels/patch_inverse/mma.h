// The `mma` backend of the local inverse: tensor cores by mma.sync.
#pragma once

#include "kernels/device/cuda_function.h"
#include "kernels/mma/shapes.h"
#include "kernels/patch_inverse/patch_inverse.h"
#include "kernels/tensor/arithmetic.h"

namespace tensormg::patch_inverse
{
/// Tensors in registers (mma_registers.cuh), N <= 8; FP64 by m8n8k4.
template <typename Number>
TENSORMG_CUDA_FUNCTION Kernel<Number> mma_registers(tensor::Arithmetic arithmetic, int dim, int n);

/// Tensors in shared memory (mma_staged.cuh), N > 8; FP64 by m16n8k4 (sm_90).
template <typename Number>
TENSORMG_CUDA_FUNCTION Kernel<Number> mma_staged(tensor::Arithmetic arithmetic, int dim, int n);

/// FP64 by m8n8k4.
TENSORMG_CUDA_FUNCTION Kernel<double> mma_staged_m8n8k4(
    tensor::Arithmetic arithmetic, int dim, int n);
} // namespace tensormg::patch_inverse
