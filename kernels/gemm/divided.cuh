// Products on mma.sync with too few tiles, or with some beyond whole waves: parts along k by blocks of their own, whose sums are
// added afterwards in the order of the parts.
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

  /// The sums of all parts of the divided tiles to C, m x n. The tile of part p begins at partial + p tile_m tile_n.
  ///
  /// A block adds numbers that lie next to each other, many parts in slices of which each has its own threads.
  template <typename Number, int tile_m, int tile_n, int slices>
  __global__ void __launch_bounds__(add_threads) add_divided_kernel(
      Division division, int m, int n, const Number *__restrict__ partial, Number *__restrict__ c)
  {
    constexpr int width = add_threads / slices, numbers = tile_m * tile_n;
    static_assert(numbers % width == 0);
    __shared__ Number of_slices[slices][width];
    const int thread = static_cast<int>(threadIdx.x), slice = thread / width;
    const int block = static_cast<int>(blockIdx.x), tile = block / (numbers / width);
    const int at = block % (numbers / width) * width + thread % width;
    const Position position = position_of(division, division.whole + tile);
    const int row = position.m * tile_m + at / tile_n, column = position.n * tile_n + at % tile_n;
    const bool exists = row < m && column < n;
    const int parts = division.parts;
    const int begin = parts * slice / slices, end = parts * (slice + 1) / slices;
    Number sum = 0;
    if (exists)
    {
      const Number *const from = partial + static_cast<std::int64_t>(tile) * parts * numbers + at;
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
  void add_divided(const Division &division, const Size &size, const typename T::Result *partial,
      typename T::Result *c, Stream stream)
  {
    using Number = typename T::Result;
    const std::int64_t blocks =
        static_cast<std::int64_t>(division.divided()) * T::m * T::n / (add_threads / slices);
    launch("launching the sum of a divided product", add_divided_kernel<Number, T::m, T::n, slices>,
        dim3(static_cast<unsigned>(blocks)), dim3(add_threads), 0, stream, division,
        static_cast<int>(size.m), static_cast<int>(size.n), partial, c);
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
std::int64_t divided_numbers(const Division &division)
{
  using T = Tile<Config>;
  return static_cast<std::int64_t>(division.sections() - division.whole) * T::m * T::n;
}

/// One product, divided or not.
template <typename Config>
void run_divided(const char *name, const Size &size, const Division &division,
    const typename Tile<Config>::Stored *a, const typename Tile<Config>::Stored *b,
    typename Tile<Config>::Result *c, typename Tile<Config>::Result *workspace, Stream stream)
{
  using T = Tile<Config>;
  if (division.divided() == 0)
    return run<Config>(name, size, a, b, c, stream);
  run_sections<Config>(name, size, division, a, b, c, workspace, stream);
  const auto add = division.parts < 2 * internal::add_slices
      ? internal::add_divided<T, 1>
      : internal::add_divided<T, internal::add_slices>;
  add(division, size, workspace, c, stream);
}
} // namespace tensormg::gemm
