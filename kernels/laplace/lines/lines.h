// The line kernel (lines_kernel.cuh), every degree: backends `mma` and `wmma` on tensor cores, 2D and 3D, and `cuda` in 3D
// where the kernels of compute capability 9.0 do not run.
#pragma once

#include <array>

#include "kernels/device/cuda_function.h"
#include "kernels/laplace/laplace.h"

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
TENSORMG_CUDA_FUNCTION LinesKernel<double> mma_lines_fp64(int dim, int degree);
TENSORMG_CUDA_FUNCTION LinesKernel<float> mma_lines_tf32(int dim, int degree);
TENSORMG_CUDA_FUNCTION LinesKernel<Half> mma_lines_fp16(int dim, int degree);
TENSORMG_CUDA_FUNCTION LinesKernel<Half> mma_lines_fp16x2(int dim, int degree);

/// By nvcuda::wmma; compiled in wmma_lines_*.cu. Compute capability 8.0.
TENSORMG_CUDA_FUNCTION LinesKernel<double> wmma_lines_fp64(int dim, int degree);
TENSORMG_CUDA_FUNCTION LinesKernel<float> wmma_lines_tf32(int dim, int degree);
TENSORMG_CUDA_FUNCTION LinesKernel<Half> wmma_lines_fp16(int dim, int degree);
TENSORMG_CUDA_FUNCTION LinesKernel<Half> wmma_lines_fp16x2(int dim, int degree);

/// On CUDA cores, 3D; compiled in cuda_lines_*.cu. Compute capability 8.0. Sums in FP64 or, of FP32 and FP16, in FP32.
TENSORMG_CUDA_FUNCTION LinesKernel<double> cuda_lines_double(int dim, int degree);
TENSORMG_CUDA_FUNCTION LinesKernel<float> cuda_lines_float(int dim, int degree);
TENSORMG_CUDA_FUNCTION LinesKernel<Half> cuda_lines_half(int dim, int degree);
/// Vectors in FP32, arithmetic in FP64: B u (Form::apply) is used.
TENSORMG_CUDA_FUNCTION LinesKernel<WideFloat> cuda_lines_wide(int dim, int degree);
} // namespace tensormg::laplace
