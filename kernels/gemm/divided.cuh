// Products on mma.sync with few tiles and long k: parts along k by blocks of their own, whose sums are added afterwards in the order of
// the parts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/core/device.h"
#include "kernels/gemm/divided.h"
#include "kernels/gemm/kernel.cuh"

namespace tensormg::gemm
{
namespace internal
{
  inline constexpr int add_threads = 256, add_slices = 8;

  /// c_i = sum over p of partial[p count + i]
  ///
  /// A block adds numbers that lie next to each other, many parts in slices of which each has its own threads.
  template <typename Number, int slices>
  __global__ void __launch_bounds__(add_threads) add_divided_kernel(
      std::int64_t count, int parts, const Number *__restrict__ partial, Number *__restrict__ c)
  {
    constexpr int width = add_threads / slices;
    __shared__ Number of_slices[slices][width];
    const int column = static_cast<int>(threadIdx.x) % width,
              slice = static_cast<int>(threadIdx.x) / width;
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * width + column;
    const int begin = parts * slice / slices, end = parts * (slice + 1) / slices;
    Number sum = 0;
    if (at < count)
    {
#pragma unroll 8
      for (int part = begin; part < end; ++part)
        sum += partial[part * count + at];
    }
    if constexpr (slices > 1)
    {
      of_slices[slice][column] = sum;
      __syncthreads();
#pragma unroll
      for (int s = 1; s < slices; ++s)
        sum += slice == 0 ? of_slices[s][column] : 0;
    }
    if (slice == 0 && at < count)
      c[at] = sum;
  }

  template <typename Number, int slices>
  void add_divided(std::int64_t count, int parts, const Number *partial, Number *c, Stream stream)
  {
    launch("launching the sum of a divided product", add_divided_kernel<Number, slices>,
        dim3(static_cast<unsigned>(divide_up(count, add_threads / slices))), dim3(add_threads), 0,
        stream, count, parts, partial, c);
  }
} // namespace internal

/// How often the product is divided on the current device; 1: not at all.
template <typename Config>
int parts_of(const Size &size)
{
  return parts_along_k(
      size, blocking_of<Config>(), Tile<Config>::k, device_properties().multiprocessors);
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
  const auto add = parts < 2 * internal::add_slices
      ? internal::add_divided<typename Tile<Config>::Result, 1>
      : internal::add_divided<typename Tile<Config>::Result, internal::add_slices>;
  add(size.m * size.n, parts, workspace, c, stream);
}
} // namespace tensormg::gemm
