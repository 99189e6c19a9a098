// The `cuda` backend: rank-2 face terms on CUDA cores, vectors in device memory.
#pragma once

#include "kernels/device/cuda_function.h"
#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
/// Kernels that are compiled, and therefore loaded to the device, together: those of low degrees are small, and a
/// solve should not wait for the others.
enum class Degrees : std::uint8_t
{
  low, ///< up to highest_low_degree
  high
};
inline constexpr int highest_low_degree = 3;

/// 3D. Needs compute capability 9.0. Only for degrees of this kind.
template <typename Number, Form form, Degrees degrees>
Apply<Number> *cuda_3d_instance(int degree);

template <typename Number, Form form, Degrees degrees>
KernelResources cuda_3d_resources(int degree, std::int64_t cells_x);

/// Of the kernel in 3D that takes blocks with so many cells in x, without ghosts.
template <typename Number>
TENSORMG_CUDA_FUNCTION KernelResources cuda_resources(Form form, int degree, std::int64_t cells_x);

/// The function for a form known at run time.
template <typename Number>
TENSORMG_CUDA_FUNCTION Apply<Number> *cuda_instance(Form form, int dim, int degree);

/// What the kernels for such blocks ask of the device once and for all; to be called while nothing else runs on it.
TENSORMG_CUDA_FUNCTION void measure_device(const Block &block, Stream stream);

/// As PackTraces (laplace.h), all pointers in device memory, queued in `stream`.
template <typename Number>
TENSORMG_CUDA_FUNCTION void pack_traces_cuda(const Block &block, const CellBasis &basis, int side,
    const Number *src, Compute<Number> *buffer, Stream stream);
} // namespace tensormg::laplace
