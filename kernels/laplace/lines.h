// The line kernel on tensor cores (lines_kernel.cuh): backends `mma` and `wmma`, every degree, 2D and 3D.
#pragma once

#include <array>

#include "kernels/laplace/laplace.h"
#include "kernels/laplace/lines_tile.h"

namespace tensormg::laplace
{
/// The functions of one degree, dimension and arithmetic.
template <typename Number>
struct LinesKernel
{
  std::array<Apply<Number> *, 3> apply{}; ///< by Form
  KernelResources (*resources)() = nullptr;
};

/// By mma.sync; compiled in mma_lines_*.cu. Compute capability 8.0; FP64 has faster instructions from 9.0 on.
template <Arithmetic arithmetic>
LinesKernel<StorageOf<arithmetic>> mma_lines(int dim, int degree);

/// By nvcuda::wmma; compiled in wmma_lines_*.cu. Compute capability 8.0.
template <Arithmetic arithmetic>
LinesKernel<StorageOf<arithmetic>> wmma_lines(int dim, int degree);
} // namespace tensormg::laplace
