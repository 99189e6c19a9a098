// Sums over all threads of a grid in two passes, in a fixed order, and loops over vectors for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/device/launch.cuh"
#include "kernels/device/pack.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/vector/cuda.h"

namespace tensormg::vector_kernels::cuda
{
inline constexpr int reduction_threads = 256;
inline constexpr int reduction_warps = reduction_threads / 32;
inline constexpr int blocks_per_multiprocessor = 4;

/// Of shared memory, for so many sums of a block.
constexpr std::size_t shared_bytes(int sums)
{
  return static_cast<std::size_t>(sums) * reduction_warps * sizeof(double);
}

/// WideFloat as it is stored: it takes a 32-bit register until one computes with it.
template <typename Number>
using Stored = std::conditional_t<std::is_same_v<Number, WideFloat>, float, Number>;
template <typename Number>
const Number *stored(const Number *p)
{
  return p;
}
template <typename Number>
Number *stored(Number *p)
{
  return p;
}
inline const float *stored(const WideFloat *p) { return &p->value; }
inline float *stored(WideFloat *p) { return &p->value; }

/// Numbers in 16 bytes.
template <typename Number>
inline constexpr int word = 16 / static_cast<int>(sizeof(Number));

/// use(position, load(position)) for the words of this thread, which takes every (gridDim * blockDim)-th, `batch`
/// loads ahead: 1024 threads per multiprocessor with two words each are 32 KiB in flight, which hides the latency
/// of the memory at full bandwidth.
template <int batch, typename Load, typename Use>
__device__ inline void for_each_word(std::int64_t words, const Load &load, const Use &use)
{
  const std::int64_t stride = std::int64_t(gridDim.x) * reduction_threads;
  std::int64_t at = std::int64_t(blockIdx.x) * reduction_threads + threadIdx.x;
  for (; at + (batch - 1) * stride < words; at += batch * stride)
  {
    decltype(load(at)) loaded[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i)
      loaded[i] = load(at + i * stride);
#pragma unroll
    for (int i = 0; i < batch; ++i)
      use(at + i * stride, loaded[i]);
  }
  for (; at < words; at += stride)
  {
    auto loaded = load(at);
    use(at, loaded);
  }
}

template <typename C, int width, int count>
struct Packs
{
  Pack<C, width> of[count];
};

template <typename C, int width>
__device__ inline void add_products(double &sum, const Pack<C, width> &a, const Pack<C, width> &b)
{
#pragma unroll
  for (int w = 0; w < width; ++w)
    sum = fma(double(a.at[w]), double(b.at[w]), sum);
}

/// largest = max(largest, |a|)
template <typename C, int width>
__device__ inline void enlarge(C &largest, const Pack<C, width> &a)
{
  constexpr C infinity = std::numeric_limits<C>::infinity();
#pragma unroll
  for (int w = 0; w < width; ++w)
  {
    // A comparison with NaN is false: it counts as infinite.
    const C size = a.at[w] < 0 ? -a.at[w] : a.at[w];
    largest = size <= largest ? largest : size < infinity ? size : infinity;
  }
}

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

/// result[i] = join of partial[i * n] .. partial[i * n + n - 1], i = blockIdx.x, and the same in copy, if there is one.
template <typename Operation>
__global__ void __launch_bounds__(reduction_threads)
    join_partials_kernel(int n, const double *partial, double *result, double *copy)
{
  double value[1] = {Operation::identity()};
  for (int at = threadIdx.x; at < n; at += reduction_threads)
    value[0] = Operation::join(value[0], partial[std::int64_t(blockIdx.x) * n + at]);
  reduce_block<Operation>(value, result + blockIdx.x, 1);
  if (copy != nullptr && threadIdx.x == 0) // which has written the result
    copy[blockIdx.x] = result[blockIdx.x];
}

/// Blocks of the first pass for so many units of work of a thread.
inline int blocks_for(std::int64_t units)
{
  const std::int64_t wanted = (units + reduction_threads - 1) / reduction_threads;
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, reduction_blocks));
}

/// The second pass; nothing to do if the only block has written to `result` itself.
template <typename Operation>
void join_partials(int blocks, int sums, const double *scratch, double *result, Stream stream,
    double *copy = nullptr)
{
  if (blocks > 1 || copy != nullptr)
    launch("joining partial sums", &join_partials_kernel<Operation>, sums, reduction_threads,
        reduction_warps * sizeof(double), stream, blocks, scratch, result, copy);
}

/// Both at once: one block for the sum, one for the maximum.
template <typename = void>
__global__ void __launch_bounds__(reduction_threads) join_sum_and_largest_kernel(
    int n, const double *sums, const double *maxima, double *result, double *largest)
{
  const bool adds = blockIdx.x == 0;
  const double *partial = adds ? sums : maxima;
  double value[1] = {0.};
  for (int at = threadIdx.x; at < n; at += reduction_threads)
    value[0] = adds ? Sum::join(value[0], partial[at]) : Maximum::join(value[0], partial[at]);
  if (adds)
    reduce_block<Sum>(value, result, 1);
  else
    reduce_block<Maximum>(value, largest, 1);
}

/// The second pass of a sum, whose parts are in `scratch`, and of a maximum, whose parts follow them.
inline void join_sum_and_largest(
    int blocks, const double *scratch, double *result, double *largest, Stream stream)
{
  if (blocks > 1)
    launch("joining partial sums and maxima", &join_sum_and_largest_kernel<>, 2, reduction_threads,
        reduction_warps * sizeof(double), stream, blocks, scratch, scratch + reduction_blocks,
        result, largest);
}

/// Where the first pass leaves its sums.
inline double *partials(int blocks, double *scratch, double *result, const double *copy = nullptr)
{
  return blocks > 1 || copy != nullptr ? scratch : result;
}
} // namespace tensormg::vector_kernels::cuda
