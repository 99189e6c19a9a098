// Products on mma.sync with too few tiles, or with some beyond whole waves: equal shares of
// their steps along k, whose sums are added afterwards in a fixed order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/device/dependent.cuh"
#include "kernels/device/device.h"
#include "kernels/diagnostics/gemm/divided.h"
#include "kernels/diagnostics/gemm/kernel.cuh"

namespace tensormg::gemm
{
namespace internal
{
  inline constexpr int add_threads = 256, add_slices = 8;

  /// The sums of all sections of the divided tiles to C, m x n. Those of section p begin at partial + p tile_m tile_n.
  ///
  /// A block adds numbers that lie next to each other, many sections in slices of which each has its own threads. `partial` is written
  /// while this kernel waits.
  template <typename Number, int tile_m, int tile_n, int slices>
  __global__ void __launch_bounds__(add_threads)
      add_divided_kernel(StreamK product, int m, int n, const Number *partial, Number *c)
  {
    constexpr int width = add_threads / slices, numbers = tile_m * tile_n;
    static_assert(numbers % width == 0);
    __shared__ Number of_slices[slices][width];
    const int thread = static_cast<int>(threadIdx.x), slice = thread / width;
    const int block = static_cast<int>(blockIdx.x), tile = block / (numbers / width);
    const int at = block % (numbers / width) * width + thread % width;
    const Position position = tile_position(product.whole + tile, product.tiles.m, product.tiles.n);
    const int row = position.m * tile_m + at / tile_n, column = position.n * tile_n + at % tile_n;
    const bool exists = row < m && column < n;
    const Partials partials = partials_of(product, tile);
    const int begin = partials.count * slice / slices, end = partials.count * (slice + 1) / slices;
    const Number *const from = partial + static_cast<std::int64_t>(partials.first) * numbers + at;
    dependent::wait_for_kernel_before();
    Number sum = 0;
    if (exists)
    {
#pragma unroll 8
      for (int part = begin; part < end; ++part)
        sum += from[static_cast<std::int64_t>(part) * numbers];
    }
    if constexpr (slices > 1)
    {
      of_slices[slice][thread % width] = sum;
      __syncthreads();
#pragma unroll
      for (int s = 1; s < slices; ++s)
        sum += slice == 0 ? of_slices[s][thread % width] : 0;
    }
    if (slice == 0 && exists)
      c[static_cast<std::int64_t>(row) * n + column] = sum;
  }

  template <typename T, int slices>
  void add_divided(const StreamK &product, const Size &size, const typename T::Result *partial,
      typename T::Result *c, Stream stream)
  {
    using Number = typename T::Result;
    const std::int64_t blocks =
        static_cast<std::int64_t>(product.divided()) * T::m * T::n / (add_threads / slices);
    dependent::launch("launching the sum of a divided product",
        add_divided_kernel<Number, T::m, T::n, slices>, dim3(static_cast<unsigned>(blocks)),
        dim3(add_threads), 0, stream, product, static_cast<int>(size.m), static_cast<int>(size.n),
        partial, c);
  }
} // namespace internal

/// On the current device.
template <typename Config>
Work work_of(const Size &size)
{
  return {size, blocking_of<Config>(), Tile<Config>::k, device_properties().multiprocessors};
}

/// Numbers of workspace that run_divided() needs.
template <typename Config>
std::int64_t divided_numbers(const StreamK &product)
{
  using T = Tile<Config>;
  return static_cast<std::int64_t>(product.partials()) * T::m * T::n;
}

/// One product, divided or not.
template <typename Config>
void run_divided(const char *name, const Size &size, const StreamK &product,
    const typename Tile<Config>::Stored *a, const typename Tile<Config>::Stored *b,
    typename Tile<Config>::Result *c, typename Tile<Config>::Result *workspace, Stream stream)
{
  using T = Tile<Config>;
  if (product.shares == 0)
    return run<Config>(name, size, a, b, c, stream);
  run_shares<Config>(name, size, product, a, b, c, workspace, stream);
  const auto add = product.shares < 2 * internal::add_slices * product.divided()
      ? internal::add_divided<T, 1>
      : internal::add_divided<T, internal::add_slices>;
  add(product, size, workspace, c, stream);
}
} // namespace tensormg::gemm
