// The `mma` backend of the nodal operator: tensor cores by mma.sync. A variant names everything; select.cc has
// the list of those that are compiled.
#pragma once

#include "kernels/device/cuda_function.h"
#include "kernels/diagnostics/nodal/nodal.h"

namespace tensormg::nodal
{
/// Tensors in registers (mma_registers.cuh), N <= 8.
template <typename Number>
TENSORMG_CUDA_FUNCTION Kernel<Number> mma_registers(const Variant &variant, int dim, int n);

/// Tensors in shared memory (mma_staged.cuh).
template <typename Number>
TENSORMG_CUDA_FUNCTION Kernel<Number> mma_staged(const Variant &variant, int dim, int n);
/// The same for the sizes at which layouts and instructions are compared.
template <typename Number>
TENSORMG_CUDA_FUNCTION Kernel<Number> mma_staged_compared(const Variant &variant, int dim, int n);

/// x and y in registers, halves in shared memory for z (mma_chained.cu): FP16, 3D, N = 16.
TENSORMG_CUDA_FUNCTION Kernel<Half> mma_chained();
} // namespace tensormg::nodal
