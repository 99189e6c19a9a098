// From tiles in shared memory to the sums of a warp, step by step along k.
#pragma once

#include "kernels/diagnostics/gemm/tile.cuh"

namespace tensormg::gemm
{
/// Everything that is chosen at compile time. `Config` has the members used below.
template <typename Config_>
struct Tile : Config_
{
  using Config = Config_;
  using Policy = typename Config::Policy;
  using S = typename Policy::S;
  using Stored = typename Policy::Stored;
  using Result = typename Policy::Result;
  using LayoutA = typename Config::LayoutA;
  using LayoutB = typename Config::LayoutB;
  static constexpr int m = Config::m, n = Config::n, k = Config::k;
  static constexpr int warps = Config::warps_m * Config::warps_n, threads = 32 * warps;
  static constexpr int warp_m = m / Config::warps_m, warp_n = n / Config::warps_n;
  static constexpr int tiles_m = warp_m / S::m, tiles_n = warp_n / S::n, steps = k / S::k;
  static_assert(m % (Config::warps_m * S::m) == 0 && n % (Config::warps_n * S::n) == 0);
  static_assert(k % S::k == 0);
  static_assert(repeats<LayoutA, S::m>(m, k) &&
      (Config::fill == Fill::vectors || repeats<LayoutB, S::k>(k, n)));
  // Tiles start at multiples of 128 bytes, swizzled ones at those of their period.
  static constexpr int size_a = (mma::extent<LayoutA>(m, k) + 511) / 512 * 512;
  static constexpr int size_b = (mma::extent<LayoutB>(k, n) + 511) / 512 * 512;
  static constexpr int shared_bytes =
      Config::stages * (size_a + size_b) * static_cast<int>(sizeof(Stored));
  static_assert(shared_bytes <= 227 * 1024);
};

/// The fragments of one step in k of a warp.
template <typename T>
struct Factors
{
  using Policy = typename T::Policy;
  typename Policy::template Factor<Operand::a> a[T::tiles_m];
  typename Policy::template Factor<Operand::b> b[T::tiles_n];

  __device__ void fill(const typename T::Stored *tile_a, const typename T::Stored *tile_b,
      int warp_row, int warp_column, int step, int lane)
  {
    using S = typename T::S;
#pragma unroll
    for (int i = 0; i < T::tiles_m; ++i)
      fill_factor<T::fill, typename T::LayoutA, Policy, Operand::a>(
          a[i], tile_a, warp_row, i * S::m, step * S::k, lane);
    if constexpr (T::fill == Fill::ldmatrix && T::tiles_n % 2 == 0)
    {
#pragma unroll
      for (int j = 0; j < T::tiles_n; j += 2)
        fill_factors_of_b<typename T::LayoutB, Policy>(
            b[j], b[j + 1], tile_b, 0, step * S::k, warp_column + j * S::n, lane);
    }
    else
    {
#pragma unroll
      for (int j = 0; j < T::tiles_n; ++j)
        fill_factor<T::fill, typename T::LayoutB, Policy, Operand::b>(
            b[j], tile_b, 0, step * S::k, warp_column + j * S::n, lane);
    }
  }
};

template <typename T>
using Sums = typename T::Policy::Sum[T::tiles_m][T::tiles_n];

template <typename T>
__device__ void add_products(Sums<T> &sums, const Factors<T> &factors)
{
#pragma unroll
  for (int i = 0; i < T::tiles_m; ++i)
#pragma unroll
    for (int j = 0; j < T::tiles_n; ++j)
      T::Policy::add(sums[i][j], factors.a[i], factors.b[j]);
}

/// All steps in k of one tile in shared memory by CudaVectors, some of them written out: all would not fit into the cache of
/// instructions. The layout of B repeats itself after these.
template <typename T>
__device__ void multiply_by_vectors(Sums<T> &sums, const typename T::Stored *tile_a,
    const typename T::Stored *tile_b, int warp_row, int warp_column, int lane)
{
  using S = typename T::S;
  using Policy = typename T::Policy;
  constexpr int steps = T::steps_at_once, rows = steps * S::k;
  static_assert(T::steps % steps == 0 && repeats<typename T::LayoutB, rows>(T::k, T::n));
#pragma unroll 1
  for (int k = 0; k < T::k; k += rows)
  {
#pragma unroll
    for (int step = 0; step < steps; ++step)
    {
      Factors<T> factors;
#pragma unroll
      for (int i = 0; i < T::tiles_m; ++i)
        fill_by_vectors<typename T::LayoutA, Policy, Operand::a>(factors.a[i],
            tile_a + distance<typename T::LayoutA>(i * S::m), warp_row, k + step * S::k, lane);
#pragma unroll
      for (int j = 0; j < T::tiles_n; ++j)
        fill_by_vectors<typename T::LayoutB, Policy, Operand::b>(
            factors.b[j], tile_b, step * S::k, warp_column + j * S::n, lane);
      add_products<T>(sums, factors);
    }
    tile_b += distance<typename T::LayoutB>(rows);
  }
}

/// All steps in k of one tile in shared memory.
template <typename T>
__device__ void multiply_tiles(Sums<T> &sums, const typename T::Stored *tile_a,
    const typename T::Stored *tile_b, int warp_row, int warp_column, int lane)
{
  if constexpr (T::buffered)
  {
    Factors<T> factors[2];
    factors[0].fill(tile_a, tile_b, warp_row, warp_column, 0, lane);
#pragma unroll
    for (int step = 0; step < T::steps; ++step)
    {
      if (step + 1 < T::steps)
        factors[(step + 1) % 2].fill(tile_a, tile_b, warp_row, warp_column, step + 1, lane);
      add_products<T>(sums, factors[step % 2]);
    }
  }
  else if constexpr (T::fill == Fill::vectors)
    multiply_by_vectors<T>(sums, tile_a, tile_b, warp_row, warp_column, lane);
  else
  {
#pragma unroll
    for (int step = 0; step < T::steps; ++step)
    {
      Factors<T> factors;
      factors.fill(tile_a, tile_b, warp_row, warp_column, step, lane);
      add_products<T>(sums, factors);
    }
  }
}

/// All tiles along k, in a ring of stages: the fragments of a step are loaded while the products of the one before
/// run, also across tiles, so that the unit never waits for shared memory after a barrier. `load` begins the copies
/// of a tile into a slot.
template <typename T, typename Load>
__device__ void multiply_in_stages(Sums<T> &sums, const typename T::Stored *shared_a,
    const typename T::Stored *shared_b, int tiles, const Load &load, int warp_row, int warp_column,
    int lane)
{
  static_assert(T::stages >= 3 && T::steps % 2 == 0);
#pragma unroll
  for (int tile = 0; tile < T::stages - 1; ++tile)
  {
    if (tile < tiles)
      load(tile, tile);
    commit_copies();
  }
  int slot = 0, free = T::stages - 1;
  wait_copies<T::stages - 2>();
  __syncthreads();
  Factors<T> factors[2];
  factors[0].fill(shared_a, shared_b, warp_row, warp_column, 0, lane);
  for (int tile = 0; tile < tiles; ++tile)
  {
#pragma unroll
    for (int step = 0; step < T::steps; ++step)
    {
      if (step + 1 == T::steps)
      {
        // The next tile has landed, and nobody reads this one any more.
        wait_copies<T::stages - 2>();
        __syncthreads();
        slot = slot + 1 == T::stages ? 0 : slot + 1;
      }
      // Written out at both places: as a function it takes other registers.
      if constexpr (T::copies_first)
        if (step == 0)
        {
          if (tile + T::stages - 1 < tiles)
            load(tile + T::stages - 1, free);
          commit_copies();
          free = free + 1 == T::stages ? 0 : free + 1;
        }
      factors[(step + 1) % 2].fill(shared_a + slot * T::size_a, shared_b + slot * T::size_b,
          warp_row, warp_column, (step + 1) % T::steps, lane);
      if constexpr (!T::copies_first)
        if (step == 0)
        {
          if (tile + T::stages - 1 < tiles)
            load(tile + T::stages - 1, free);
          commit_copies();
          free = free + 1 == T::stages ? 0 : free + 1;
        }
      add_products<T>(sums, factors[step % 2]);
    }
  }
}
} // namespace tensormg::gemm
