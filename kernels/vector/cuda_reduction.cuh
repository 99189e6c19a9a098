// Sums over all threads of a grid in two passes, in a fixed order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/core/launch.cuh"
#include "kernels/core/shared_memory.cuh"
#include "kernels/vector/cuda.h"

namespace tensormg::vector_kernels::cuda
{
inline constexpr int reduction_threads = 256;
inline constexpr int reduction_warps = reduction_threads / 32;

struct Sum
{
  static __device__ double identity() { return 0.; }
  static __device__ double join(double a, double b) { return a + b; }
};

struct Maximum
{
  static __device__ double identity() { return 0.; }
  static __device__ double join(double a, double b) { return a > b ? a : b; }
};

/// Joins the values of all threads of a block of reduction_threads; value i lies in to[i * stride] then.
/// Shared memory: reduction_warps * count numbers.
template <typename Operation, int count>
__device__ inline void reduce_block(const double (&values)[count], double *to, std::int64_t stride)
{
  double *of_warps = reinterpret_cast<double *>(dynamic_shared());
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int i = 0; i < count; ++i)
  {
    double value = values[i];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      value = Operation::join(value, __shfl_xor_sync(~0u, value, distance));
    if (lane == 0)
      of_warps[warp * count + i] = value;
  }
  __syncthreads();
  if (threadIdx.x < count)
  {
    double value = of_warps[threadIdx.x];
#pragma unroll
    for (int w = 1; w < reduction_warps; ++w)
      value = Operation::join(value, of_warps[w * count + threadIdx.x]);
    to[threadIdx.x * stride] = value;
  }
}

/// result[i] = join of partial[i * n] .. partial[i * n + n - 1], i = blockIdx.x.
template <typename Operation>
__global__ void __launch_bounds__(reduction_threads)
    join_partials_kernel(int n, const double *partial, double *result)
{
  double value[1] = {Operation::identity()};
  for (int at = threadIdx.x; at < n; at += reduction_threads)
    value[0] = Operation::join(value[0], partial[std::int64_t(blockIdx.x) * n + at]);
  reduce_block<Operation>(value, result + blockIdx.x, 1);
}

/// Blocks of the first pass for so many units of work of a thread.
inline int blocks_for(std::int64_t units)
{
  const std::int64_t wanted = (units + reduction_threads - 1) / reduction_threads;
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, reduction_blocks));
}

/// The second pass; nothing to do if the only block has written to `result` itself.
template <typename Operation>
void join_partials(int blocks, int sums, const double *scratch, double *result, Stream stream)
{
  if (blocks > 1)
    launch("joining partial sums", &join_partials_kernel<Operation>, sums, reduction_threads,
        reduction_warps * sizeof(double), stream, blocks, scratch, result);
}

/// Where the first pass leaves its sums.
inline double *partials(int blocks, double *scratch, double *result)
{
  return blocks > 1 ? scratch : result;
}
} // namespace tensormg::vector_kernels::cuda
