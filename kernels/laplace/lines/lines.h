// The kernel of lines (kernel.cuh), every degree: backends `mma` and `wmma` on tensor cores, 2D and 3D, and `cuda` in 3D
// where the kernels of compute capability 9.0 do not run.
#pragma once

#include <array>

#include "kernels/device/cuda_function.h"
#include "kernels/laplace/laplace.h"
#include "kernels/laplace/lines/tile.h"

namespace tensormg::laplace
{
/// The functions of one degree, dimension and arithmetic.
template <typename Number>
struct LinesKernel
{
  std::array<Apply<Number> *, 3> apply{}; ///< by Form
  KernelResources (*resources)() = nullptr;
};

/// By mma.sync and by nvcuda::wmma, arithmetic fp64, tf32, fp16 and fp16x2. Compute capability 8.0; FP64 has faster instructions of
/// mma.sync from 9.0 on.
template <Arithmetic arithmetic>
TENSORMG_CUDA_FUNCTION LinesKernel<StorageOf<arithmetic>> mma_lines(int dim, int degree);
template <Arithmetic arithmetic>
TENSORMG_CUDA_FUNCTION LinesKernel<StorageOf<arithmetic>> wmma_lines(int dim, int degree);

/// On CUDA cores, 3D. Compute capability 8.0. Sums in FP64 or, of FP32 and FP16, in FP32; of WideFloat B u (Form::apply) is used.
template <typename Number>
TENSORMG_CUDA_FUNCTION LinesKernel<Number> cuda_lines(int dim, int degree);
} // namespace tensormg::laplace
