// CONTRACT of the scale kernels a[i] = q b[i], the yardstick of memory bandwidth: nothing that reads a
// vector and writes another one can be faster. Counted are the bytes that each element must move, once read
// and once written.
//
//   cpu           host, one thread
//   cuda          device: a multiplication per number, 16 bytes per load
//   mma_*         device: the same loads and stores, the arithmetic by mma.sync as a = b (q I): what tensor
//                 cores can gain where there is no arithmetic. mma_tf32 rounds b and q to TF32
//   wmma*         device: the same by nvcuda::wmma, with its loads and stores; wmma_tf32 rounds as mma_tf32
//
// Arrays: `size` numbers, any, 64-byte aligned; a must not alias b.
// Stores go past the caches where the machine can do that, so that a is not read first. All but cpu and
// cuda need finite numbers: an infinite one spoils its row of 8 or 16.
// Oracle: the formula. Tests: tests/kernels/diagnostics/scale/scale_test.cc, tests/kernels/diagnostics/scale/device_test.cu.
#pragma once

#include <cstdint>

#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"

namespace tensormg::scale
{
inline constexpr double bytes_per_element = 16.; ///< in double

/// Host memory, one thread.
void cpu(std::int64_t size, double q, const double *b, double *a);

/// Device memory; queued in the stream.
template <typename Number>
TENSORMG_CUDA_FUNCTION void cuda(
    std::int64_t size, double q, const Number *b, Number *a, Stream stream);

TENSORMG_CUDA_FUNCTION void mma_m8n8k4(
    std::int64_t size, double q, const double *b, double *a, Stream stream);
/// Throws DeviceError where the GPU has no such shape.
TENSORMG_CUDA_FUNCTION void mma_m16n8k4(
    std::int64_t size, double q, const double *b, double *a, Stream stream);
TENSORMG_CUDA_FUNCTION void mma_tf32(
    std::int64_t size, double q, const float *b, float *a, Stream stream);
TENSORMG_CUDA_FUNCTION void mma_fp16(
    std::int64_t size, double q, const Half *b, Half *a, Stream stream);

TENSORMG_CUDA_FUNCTION void wmma(
    std::int64_t size, double q, const double *b, double *a, Stream stream);
TENSORMG_CUDA_FUNCTION void wmma_tf32(
    std::int64_t size, double q, const float *b, float *a, Stream stream);
TENSORMG_CUDA_FUNCTION void wmma_fp16(
    std::int64_t size, double q, const Half *b, Half *a, Stream stream);

/// Flops that the tensor cores do per number: products with the zeros of q I as well.
inline constexpr int mma_flops = 16;
inline constexpr int wide_wmma_flops = 32; ///< the shapes of WMMA but that of FP64
} // namespace tensormg::scale
