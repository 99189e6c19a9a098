// CONTRACT of the dense products C = A B on a device: matrices and sizes as in gemm.h, in device memory.
//
//   fp16<rung>      A and B in FP16, sums and C in FP32, on mma.sync.m16n8k16: a ladder, each rung has what
//                   the one before has, and one thing more
//     naive           block 32 x 32 x 16, shared memory row by row, a warp has one tile of 16 x 8
//     more_tiles      block 64 x 64 x 16: four tiles per warp
//     permuted        block 64 x 64 x 32, loads of 16 bytes, permuted shared memory without conflicts, ldmatrix
//     buffered        fragments are loaded while the products before them run
//     staged          three stages of cp.async
//     larger          block 256 x 128 x 64, warps 64 x 64, four stages: 192 KiB of shared memory, which devices before
//                     compute capability 9.0 do not have
//     cuda_cores      tiles, copies and shared memory of `larger`, factors converted to FP32, FMA: what tensor cores gain
//   fp16_wgmma      the last rung: wgmma, copies by TMA, warpgroups that copy or multiply, persistent blocks; the size
//                   decides on the shape of tiles and whether some are divided along k (wgmma/plan.h). Same input,
//                   same bits on devices of one kind
//   fp64<shape>     DGEMM on mma.sync.m8n8k4, m16n8k4 or m16n8k8, three stages; few tiles are smaller, and what
//                   multiprocessors cannot share evenly is shared along k; cuda_cores: the same on CUDA cores
//   Single<policy>  A, B and C in FP32 by factors in TF32 or FP16, on mma.sync, WMMA or CUDA cores, with and without
//                   correction of what the rounding of factors loses (kernels/diagnostics/precision/methods.h has the methods)
//   single_wgmma    the corrected product by wgmma, like fp16_wgmma: A and B are split in two FP16 matrices each in a
//                   workspace first (two_terms.h); few tiles with long k are split by the blocks that multiply
//   cublas_*        cuBLAS, to compare with
//
// Matrices whose rows do not start at multiples of 16 bytes are loaded number by number; the copy engine of wgmma cannot
// do that, so they are copied to a workspace with longer rows first. Source of the correction: H. Ootomo and R. Yokota, IJHPCA 36 (2022).
// A, B, C and workspaces are aligned to 16 bytes. Queued in the stream. Throw
// std::length_error for sizes from 2^31 on.
// Tests: tests/kernels/diagnostics/gemm/device_test.cu, batched_device_test.cu, shares_device_test.cu,
// split_device_test.cu.
#pragma once

#include <cstdint>

#include "kernels/core/half.h"
#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/gemm/gemm.h"
#include "kernels/diagnostics/gemm/quantisation.h"
#include "kernels/mma/bf16.h"

namespace tensormg::gemm
{
enum class Rung : std::uint8_t
{
  naive,
  more_tiles,
  permuted,
  buffered,
  staged,
  larger,
  cuda_cores
};
template <Rung rung>
TENSORMG_CUDA_FUNCTION void fp16(
    const Size &size, const Half *a, const Half *b, float *c, Stream stream);

/// How the rung divides C on the current device.
template <Rung rung>
TENSORMG_CUDA_FUNCTION Blocking fp16_blocking();
/// Bytes that must pass through shared memory: tiles on their way in, fragments on their way out. Conflicts come on top.
template <Rung rung>
TENSORMG_CUDA_FUNCTION double fp16_shared_bytes(const Size &size);

/// Numbers that fp16_wgmma (Half) and single_wgmma (float) need room for: copies of A and B where k and n are no multiples
/// of 8 (Half), both in two terms (float) if they are split first, and sums of parts along k. Depends on the current device;
/// throws DeviceError below compute capability 9.0.
template <typename Number>
TENSORMG_CUDA_FUNCTION std::int64_t wgmma_workspace(const Size &size);

/// `workspace` has wgmma_workspace<Half>(size) numbers. Throws DeviceError below compute capability 9.0.
TENSORMG_CUDA_FUNCTION void fp16_wgmma(
    const Size &size, const Half *a, const Half *b, float *c, Half *workspace, Stream stream);
/// The same by its largest tiles, never divided along k, whatever the size: to see what tiles and waves cost. k > 0.
TENSORMG_CUDA_FUNCTION void fp16_wgmma_largest(
    const Size &size, const Half *a, const Half *b, float *c, Half *workspace, Stream stream);
TENSORMG_CUDA_FUNCTION Blocking fp16_wgmma_blocking(); ///< of fp16_wgmma_largest()

enum class Fp64Shape : std::uint8_t
{
  m8n8k4,
  m16n8k4,
  m16n8k8,
  cuda_cores
};
/// Numbers that fp64() needs room for: sums of parts along k (kernels/diagnostics/gemm/divided.h). Depends on the
/// current device.
template <Fp64Shape shape>
TENSORMG_CUDA_FUNCTION std::int64_t fp64_workspace(const Size &size);
template <Fp64Shape shape>
TENSORMG_CUDA_FUNCTION void fp64(const Size &size, const double *a, const double *b, double *c,
    double *workspace, Stream stream);
template <Fp64Shape shape>
TENSORMG_CUDA_FUNCTION double fp64_shared_bytes(const Size &size);

/// What multiplies in Single: the same tiles, copies and factors in shared memory for all.
enum class Unit : std::uint8_t
{
  mma,  ///< mma.sync, fragments filled by their maps
  wmma, ///< nvcuda::wmma, fragments loaded and stored by the library; only TF32, since it loads only what lies in
        ///< memory as it is multiplied or is rounded in place
  cuda_cores ///< FMA on the same rounded or split factors
};
enum class Format : std::uint8_t
{
  fp32, ///< nothing is rounded; only CUDA cores
  tf32,
  fp16 ///< factors between 2^-14 and 65504
};
enum class Correction : std::uint8_t
{
  none,
  three_products, ///< factors as big + small, three products into one accumulator (3xTF32)
  outside         ///< the same, the large products added outside of the unit, which cuts sums off
};
struct SinglePolicy
{
  Unit unit;
  Format format;
  Correction correction = Correction::none;
};
/// Exists for mma and cuda_cores with tf32 and fp16, wmma with tf32, each with none and outside; for
/// mma with tf32 and three_products; for cuda_cores with fp32 and none.
template <SinglePolicy policy>
struct Single
{
  /// One product, divided along k where C has few tiles; `workspace` has workspace(size) numbers, which depends on the current
  /// device.
  TENSORMG_CUDA_FUNCTION static void multiply(
      const Size &size, const float *a, const float *b, float *c, float *workspace, Stream stream);
  TENSORMG_CUDA_FUNCTION static std::int64_t workspace(const Size &size);
  /// Products C_i = A_i B_i, i < count, in FP32, matrix after matrix. Throws std::length_error for more than 65535.
  TENSORMG_CUDA_FUNCTION static void multiply_batch(const Size &size, std::int64_t count,
      const float *a, const float *b, float *c, Stream stream);
};

/// Like {mma, fp16, outside}, by wgmma; `workspace` has wgmma_workspace<float>(size) numbers. Throws DeviceError below
/// compute capability 9.0.
TENSORMG_CUDA_FUNCTION void single_wgmma(
    const Size &size, const float *a, const float *b, float *c, float *workspace, Stream stream);

/// By cuBLAS, which is loaded when it is first needed: DeviceError if there is none.
TENSORMG_CUDA_FUNCTION void cublas_fp16(
    const Size &size, const Half *a, const Half *b, float *c, Stream stream);
TENSORMG_CUDA_FUNCTION void cublas_bf16(
    const Size &size, const Bf16 *a, const Bf16 *b, float *c, Stream stream);
TENSORMG_CUDA_FUNCTION void cublas_fp64(
    const Size &size, const double *a, const double *b, double *c, Stream stream);
/// On CUDA cores.
TENSORMG_CUDA_FUNCTION void cublas_fp32(
    const Size &size, const float *a, const float *b, float *c, Stream stream);
TENSORMG_CUDA_FUNCTION void cublas_tf32(
    const Size &size, const float *a, const float *b, float *c, Stream stream);
/// On CUDA cores, matrices as Single::multiply_batch() has them.
TENSORMG_CUDA_FUNCTION void cublas_fp32_batched(
    const Size &size, std::int64_t count, const float *a, const float *b, float *c, Stream stream);
} // namespace tensormg::gemm
