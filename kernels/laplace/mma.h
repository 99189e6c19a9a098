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
/// The residual with weights and traces of 22 bits (fp16x2), degrees for which it is faster than CUDA cores.
inline constexpr int mma_accurate_min_degree = 5;

/// From here to max_degree.
constexpr int mma_lowest_degree(Form form, Arithmetic arithmetic)
{
  return arithmetic == Arithmetic::fp16x2 ? mma_accurate_min_degree
      : form == Form::apply               ? mma_layers_min_degree
                                          : mma_column_degree;
}

/// fp16, and of the residual fp16x2. Need compute capability 9.0.
template <Form form, Arithmetic arithmetic>
TENSORMG_CUDA_FUNCTION Apply<Half> *mma_3d_instance(int degree);
template <Form form, Arithmetic arithmetic>
TENSORMG_CUDA_FUNCTION KernelResources mma_3d_resources(int degree, std::int64_t cells_x);

/// The same for choices known at run time.
TENSORMG_CUDA_FUNCTION Apply<Half> *mma_instance(Form form, Arithmetic arithmetic, int degree);
TENSORMG_CUDA_FUNCTION KernelResources mma_resources(
    Form form, Arithmetic arithmetic, int degree, std::int64_t cells_x);
} // namespace tensormg::laplace
