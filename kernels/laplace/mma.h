// The `mma` backend in 3D, FP16 storage: rank-2 face terms by mma.sync on tensor cores, vectors in device memory. What is
// not here is done by the kernel of lines.
#pragma once

#include "kernels/device/cuda_function.h"
#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
/// Residual and Chebyshev step by the column kernel. Its residual rounds jumps of traces instead of traces: as accurate
/// for smooth vectors as weights and traces of 22 bits.
inline constexpr int mma_column_degree = 3;
/// Every form by the layer kernel, from this degree on.
inline constexpr int mma_layers_min_degree = 4;
/// The residual with weights and traces of 22 bits, degrees for which it is faster than CUDA cores.
inline constexpr int mma_accurate_min_degree = 5;

/// Compiled in mma_3d_half_*.cu. Need compute capability 9.0.
template <Form form>
Apply<Half> *mma_3d_half_instance(int degree);
template <Form form>
KernelResources mma_3d_half_resources(int degree, std::int64_t cells_x);

/// The same for a form known at run time.
TENSORMG_CUDA_FUNCTION Apply<Half> *mma_instance(Form form, int degree);
TENSORMG_CUDA_FUNCTION KernelResources mma_resources(Form form, int degree, std::int64_t cells_x);

/// From mma_accurate_min_degree on.
TENSORMG_CUDA_FUNCTION Apply<Half> *mma_accurate_residual(int degree);
TENSORMG_CUDA_FUNCTION KernelResources mma_accurate_residual_resources(int degree);
} // namespace tensormg::laplace
