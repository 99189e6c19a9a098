// Products on mma.sync with few tiles and long k: parts along k by blocks of their own, whose sums are added afterwards in the order of
// the parts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/gemm/divided.h"
#include "kernels/gemm/kernel.cuh"

namespace tensormg::gemm
{
namespace internal
{
  /// A block adds `width` numbers that lie next to each other, in slices of the parts of which each has its own threads.
  inline constexpr int add_width = 32, add_slices = 8;

  /// c_i = sum over p of partial[p count + i]
  template <typename Number>
  __global__ void __launch_bounds__(add_width *add_slices) add_divided_kernel(
      std::int64_t count, int parts, const Number *__restrict__ partial, Number *__restrict__ c)
  {
    __shared__ Number of_slices[add_slices][add_width];
    const int column = static_cast<int>(threadIdx.x) % add_width,
              slice = static_cast<int>(threadIdx.x) / add_width;
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * add_width + column;
    const int begin = parts * slice / add_slices, end = parts * (slice + 1) / add_slices;
    Number sum = 0;
    if (at < count)
    {
#pragma unroll 8
      for (int part = begin; part < end; ++part)
        sum += partial[part * count + at];
    }
    of_slices[slice][column] = sum;
    __syncthreads();
    if (slice > 0 || at >= count)
      return;
#pragma unroll
    for (int s = 1; s < add_slices; ++s)
      sum += of_slices[s][column];
    c[at] = sum;
  }
} // namespace internal

/// How often the product is divided on the current device; 1: not at all.
template <typename Config>
int parts_of(const Size &size)
{
  return parts_along_k(size, blocking_of<Config>(), Tile<Config>::k);
}

/// Numbers of workspace that run_divided() needs.
template <typename Config>
std::int64_t divided_numbers(const Size &size)
{
  const int parts = parts_of<Config>(size);
  return parts > 1 ? parts * size.m * size.n : 0;
}

/// One product, divided or not.
template <typename Config>
void run_divided(const char *name, const Size &size, const typename Tile<Config>::Stored *a,
    const typename Tile<Config>::Stored *b, typename Tile<Config>::Result *c,
    typename Tile<Config>::Result *workspace, Stream stream)
{
  const int parts = parts_of<Config>(size);
  if (parts == 1)
    return run<Config>(name, size, a, b, c, stream);
  run<Config, true>(name, size, a, b, workspace, stream, parts);
  const std::int64_t count = size.m * size.n;
  launch("launching the sum of a divided product",
      internal::add_divided_kernel<typename Tile<Config>::Result>,
      dim3(static_cast<unsigned>(divide_up(count, internal::add_width))),
      dim3(internal::add_width * internal::add_slices), 0, stream, count, parts, workspace, c);
}
} // namespace tensormg::gemm
