// The `mma` backend: rank-2 face terms by mma.sync on tensor cores, vectors in device memory.
#pragma once

#include "kernels/device/cuda_function.h"
#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
/// Largest degree for number type and dimension; 0: none.
template <typename Number>
constexpr int mma_max_degree(int dim)
{
  return dim == 3 && sizeof(Number) == 2 ? 8 : 0;
}

/// 3D, FP16 storage; compiled in mma_3d_half_*.cu. Needs compute capability 9.0.
template <Form form>
Apply<Half> *mma_3d_half_instance(int degree);
template <Form form>
KernelResources mma_3d_half_resources(int degree, std::int64_t cells_x);

/// Degrees whose residual rounds jumps of traces instead of traces, in 3D: as accurate for smooth vectors as what
/// follows.
inline constexpr int mma_jumps_max_degree = 3;

/// The residual with weights and traces of 22 bits, 3D, degrees for which it is faster than CUDA cores.
inline constexpr int mma_accurate_min_degree = 5, mma_accurate_max_degree = 8;
TENSORMG_CUDA_FUNCTION Apply<Half> *mma_accurate_residual(int degree);
TENSORMG_CUDA_FUNCTION KernelResources mma_accurate_residual_resources(int degree);

/// mma_3d_half_instance() for a form known at run time, of degrees up to mma_max_degree().
TENSORMG_CUDA_FUNCTION Apply<Half> *mma_instance(Form form, int degree);
TENSORMG_CUDA_FUNCTION KernelResources mma_resources(Form form, int degree, std::int64_t cells_x);
} // namespace tensormg::laplace
