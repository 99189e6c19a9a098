// CONTRACT of the dense products C = A B on a device: matrices and sizes as in gemm.h, in device memory.
//
//   fp16<rung>      A and B in FP16, sums and C in FP32, on mma.sync.m16n8k16: a ladder, each rung has what
//                   the one before has, and one thing more
//     naive           block 32 x 32 x 16, shared memory row by row, a warp has one tile of 16 x 8
//     more_tiles      block 64 x 64 x 16: four tiles per warp
//     permuted        block 64 x 64 x 32, loads of 16 bytes, permuted shared memory without conflicts, ldmatrix
//     buffered        fragments are loaded while the products before them run
//     staged          three stages of cp.async
//     larger          block 128 x 128 x 32: sixteen tiles per warp
//   fp16_wgmma      the last rung: wgmma, copies by TMA, warpgroups that copy or multiply, persistent blocks of
//                   128 x 256 x 64 with four stages
//   fp64<shape>     DGEMM on mma.sync.m8n8k4, m16n8k4 or m16n8k8, three stages
//   single<method>  A, B and C in FP32 on TF32 or FP16 tensor cores, with and without correction of what the
//                   rounding of factors loses (kernels/precision/methods.h has the methods)
//   cublas_*        cuBLAS, to compare with
//
// Matrices whose rows do not start at multiples of 16 bytes are loaded number by number. Source of the
// correction: H. Ootomo and R. Yokota, IJHPCA 36 (2022).
// Queued in the stream. All throw DeviceError in a build without CUDA, std::length_error for sizes from 2^31 on.
// Tests: tests/kernels/gemm_device_test.cu.
#pragma once

#include <cstdint>

#include "kernels/core/device.h"
#include "kernels/core/half.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/quantisation.h"

namespace tensormg::gemm
{
enum class Rung : std::uint8_t
{
  naive,
  more_tiles,
  permuted,
  buffered,
  staged,
  larger
};
template <Rung rung>
void fp16(const Size &size, const Half *a, const Half *b, float *c, Stream stream);

/// How the rung divides C on the current device.
template <Rung rung>
Blocking fp16_blocking();
Blocking fp16_wgmma_blocking();

/// Throws std::invalid_argument unless n and k are multiples of 8, DeviceError below compute capability 9.0.
void fp16_wgmma(const Size &size, const Half *a, const Half *b, float *c, Stream stream);

enum class Fp64Shape : std::uint8_t
{
  m8n8k4,
  m16n8k4,
  m16n8k8
};
template <Fp64Shape shape>
void fp64(const Size &size, const double *a, const double *b, double *c, Stream stream);

enum class SingleMethod : std::uint8_t
{
  tf32,           ///< factors rounded to TF32
  tf32_three,     ///< 3xTF32: three products into one accumulator
  tf32_corrected, ///< three products, the large ones added outside of the tensor cores
  fp16_corrected  ///< the same with FP16; factors between 2^-14 and 65504
};
template <SingleMethod method>
void single(const Size &size, const float *a, const float *b, float *c, Stream stream);

/// By cuBLAS, which is loaded when it is first needed: DeviceError if there is none.
void cublas_fp16(const Size &size, const Half *a, const Half *b, float *c, Stream stream);
void cublas_fp64(const Size &size, const double *a, const double *b, double *c, Stream stream);
/// On CUDA cores.
void cublas_fp32(const Size &size, const float *a, const float *b, float *c, Stream stream);
void cublas_tf32(const Size &size, const float *a, const float *b, float *c, Stream stream);
} // namespace tensormg::gemm
