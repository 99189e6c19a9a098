// The product of two matrices on mma.sync: a block of warps computes a tile of C, marching along k through
// tiles of A and B in shared memory.
#pragma once

#include "kernels/device/dependent.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/occupancy.h"
#include "kernels/device/shared_memory.cuh"
#include "kernels/diagnostics/gemm/multiply.cuh"
#include "kernels/diagnostics/gemm/quantisation.h"
#include "kernels/diagnostics/gemm/stream_k.h"
#include "kernels/diagnostics/gemm/tile_order.h"
#include "kernels/tensor/device_resources.cuh"

namespace tensormg::gemm
{
/// Neighbours of a row together where they are aligned.
template <typename T>
__device__ void store_sums(const Sums<T> &sums, int m, int n, int first_row, int first_column,
    int lane, typename T::Result *c)
{
  using S = typename T::S;
  using Result = typename T::Result;
  struct alignas(2 * sizeof(Result)) Pair
  {
    Result first, second;
  };
#pragma unroll
  for (int i = 0; i < T::tiles_m; ++i)
#pragma unroll
    for (int j = 0; j < T::tiles_n; ++j)
#pragma unroll
      for (int e = 0; e < PartOf<S, Operand::c>::n_elements; e += 2)
      {
        const mma::Entry at = part_entry<S, Operand::c>(lane, e);
        const int row = first_row + i * S::m + at.row, column = first_column + j * S::n + at.column;
        if (row >= m || column >= n)
          continue;
        Result *const to = c + static_cast<std::int64_t>(row) * n + column;
        const Pair pair{sums[i][j].get(e), sums[i][j].get(e + 1)};
        if (n % 2 == 0)
          *reinterpret_cast<Pair *>(to) = pair;
        else
        {
          to[0] = pair.first;
          if (column + 1 < n)
            to[1] = pair.second;
        }
      }
}

/// By way of shared memory, tile by tile, where lanes do not know which entries they have. `tile` is the warp's.
template <typename T>
__device__ void store_opaque_sums(const Sums<T> &sums, int m, int n, int first_row,
    int first_column, int lane, typename T::Result *tile, typename T::Result *c)
{
  using S = typename T::S;
#pragma unroll
  for (int i = 0; i < T::tiles_m; ++i)
#pragma unroll
    for (int j = 0; j < T::tiles_n; ++j)
    {
      PartOf<S, Operand::c> part;
#pragma unroll
      for (int e = 0; e < PartOf<S, Operand::c>::n_elements; ++e)
        element<S>(part, e) = sums[i][j].get(e);
      nvcuda::wmma::store_matrix_sync(tile, part.fragment, S::n, nvcuda::wmma::mem_row_major);
      __syncwarp();
#pragma unroll
      for (int at = lane; at < S::m * S::n; at += 32)
      {
        const int row = first_row + i * S::m + at / S::n,
                  column = first_column + j * S::n + at % S::n;
        if (row < m && column < n)
          c[static_cast<std::int64_t>(row) * n + column] = tile[at];
      }
      __syncwarp();
    }
}

/// With copies of the next steps under way while one is multiplied.
template <typename T, typename Load>
__device__ __forceinline__ void multiply_with_copies(Sums<T> &sums,
    const typename T::Stored *shared_a, const typename T::Stored *shared_b, int steps,
    const Load &load, int warp_row, int warp_column, int lane)
{
#pragma unroll
  for (int step = 0; step < T::stages - 1; ++step)
  {
    if (step < steps)
      load(step, step);
    commit_copies();
  }
  for (int step = 0; step < steps; ++step)
  {
    // The tiles of this step have landed, and nobody reads those of the last one any more.
    wait_copies<T::stages - 2>();
    __syncthreads();
    if (step + T::stages - 1 < steps)
      load(step + T::stages - 1, (step + T::stages - 1) % T::stages);
    commit_copies();
    const int slot = step % T::stages;
    multiply_tiles<T>(sums, shared_a + slot * T::size_a, shared_b + slot * T::size_b, warp_row,
        warp_column, lane);
  }
}

/// A section of a tile: `step_of(i)` along k, i < steps. With `divided` sums go to `partial`, unless it is null.
template <typename T, bool divided, typename StepOf>
__device__ __forceinline__ void multiply_section(const Position &tile, int steps,
    const StepOf &step_of, int m, int n, int k, const typename T::Stored *a,
    const typename T::Stored *b, typename T::Result *c, typename T::Result *partial)
{
  using Stored = typename T::Stored;
  using S = typename T::S;
  auto *const shared_a = reinterpret_cast<Stored *>(dynamic_shared());
  Stored *const shared_b = shared_a + T::stages * T::size_a;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_row = warp / T::warps_n * T::warp_m, warp_column = warp % T::warps_n * T::warp_n;
  const TileLoader<Stored, typename T::LayoutA, T::m, T::k, T::threads, T::copies> load_a(a, m, k);
  const TileLoader<Stored, typename T::LayoutB, T::k, T::n, T::threads, T::copies> load_b(b, k, n);
  const auto load = [&](int step, int slot) {
    const int at = step_of(step) * T::k;
    load_a.load(tile.m * T::m, at, shared_a + slot * T::size_a);
    load_b.load(at, tile.n * T::n, shared_b + slot * T::size_b);
  };

  Sums<T> sums{};
  if constexpr (T::stages == 1)
    for (int step = 0; step < steps; ++step)
    {
      load(step, 0);
      __syncthreads();
      multiply_tiles<T>(sums, shared_a, shared_b, warp_row, warp_column, lane);
      __syncthreads();
    }
  else if constexpr (T::buffered)
    multiply_in_stages<T>(sums, shared_a, shared_b, steps, load, warp_row, warp_column, lane);
  else
    multiply_with_copies<T>(sums, shared_a, shared_b, steps, load, warp_row, warp_column, lane);
  int first_row = tile.m * T::m + warp_row, first_column = tile.n * T::n + warp_column;
  if constexpr (divided)
    if (partial != nullptr)
    {
      c = partial;
      first_row = warp_row;
      first_column = warp_column;
      m = T::m;
      n = T::n;
    }
  if constexpr (is_opaque<S>)
  {
    static_assert(T::warps * S::m * S::n * sizeof(typename T::Result) <= T::shared_bytes);
    if constexpr (T::stages > 1)
      wait_copies<0>();
    __syncthreads(); // nobody reads tiles of A and B any more
    store_opaque_sums<T>(sums, m, n, first_row, first_column, lane,
        reinterpret_cast<typename T::Result *>(dynamic_shared()) + warp * S::m * S::n, c);
  }
  else
    store_sums<T>(sums, m, n, first_row, first_column, lane, c);
}

/// A block has a tile.
template <typename T>
__global__ void __launch_bounds__(T::threads, T::least_blocks)
    product_kernel(int m, int n, int k, Tiles tiles, const typename T::Stored *__restrict__ a,
        const typename T::Stored *__restrict__ b, typename T::Result *__restrict__ c)
{
  if constexpr (mma::is_available<typename T::S>)
  {
    // One matrix after the other: each starts where rows may start. Others would pay for it with registers.
    if constexpr (T::batched)
    {
      const std::int64_t matrix = blockIdx.y;
      a += matrix * m * k;
      b += matrix * k * n;
      c += matrix * m * n;
    }
    multiply_section<T, false>(
        tile_position(static_cast<int>(blockIdx.x), tiles.m, tiles.n),
        k / T::k + (k % T::k != 0 ? 1 : 0), [](int step) { return step; }, m, n, k, a, b, c,
        nullptr);
  }
}

/// A block has a whole tile or the sections of a share, whose sums go to `partial`, tile after tile.
template <typename T>
__global__ void __launch_bounds__(T::threads, T::least_blocks)
    shares_kernel(int m, int n, int k, StreamK product, const typename T::Stored *__restrict__ a,
        const typename T::Stored *__restrict__ b, typename T::Result *__restrict__ c,
        typename T::Result *__restrict__ partial)
{
  if constexpr (mma::is_available<typename T::S>)
  {
    dependent::let_next_kernel_start();
    for (int index = 0;; ++index)
    {
      const SectionOfShare section = section_of(product, static_cast<int>(blockIdx.x), index);
      if (section.first == section.end)
        break;
      if (index > 0)
      {
        wait_copies<0>();
        __syncthreads(); // nobody reads tiles of the section before any more
      }
      multiply_section<T, true>(
          tile_position(section.tile, product.tiles.m, product.tiles.n), section.steps(),
          [&](int step) { return section.step(step); }, m, n, k, a, b, c,
          section.partial < 0
              ? nullptr
              : partial + static_cast<std::int64_t>(section.partial) * (T::m * T::n));
    }
  }
}

template <typename Config>
Blocking blocking_of()
{
  using T = Tile<Config>;
  return {T::m, T::n,
      resident_blocks(
          reinterpret_cast<const void *>(product_kernel<T>), T::threads, T::shared_bytes)};
}

/// Every warp loads the fragments of its rows and columns, the block its tiles once.
template <typename Config>
double shared_bytes_of(const Size &size)
{
  using T = Tile<Config>;
  const Tiles tiles = tiles_of(size, T::m, T::n);
  constexpr int numbers = T::k * (T::warps * (T::warp_m + T::warp_n) + T::m + T::n);
  return static_cast<double>(tiles.m) * tiles.n * static_cast<double>(divide_up(size.k, T::k)) *
      numbers * static_cast<double>(sizeof(typename T::Stored));
}

inline constexpr std::int64_t most_matrices = 65535; ///< of a grid, along y

/// For matrices whose rows do not start at multiples of 16 bytes.
template <typename Config>
struct Unaligned : Config
{
  static constexpr Copies copies =
      sizeof(typename Config::Policy::Stored) < 4 ? Copies::numbers : Copies::async_numbers;
};

/// Before a kernel of T is started: the device has its instructions and room.
template <typename T, typename Kernel>
void prepare(Kernel *kernel)
{
  if constexpr (T::S::min_capability > 80)
    tensor::require_compiled_for(T::S::min_capability, kernel);
  allow_shared_bytes(reinterpret_cast<const void *>(kernel), T::shared_bytes);
}

/// Whether rows of A and B start at multiples of what copies take at once.
template <typename Config>
bool has_whole_words(const Size &size)
{
  constexpr int per_word = numbers_per_word<typename Tile<Config>::Stored>;
  return Config::copies == Copies::numbers || (size.k % per_word == 0 && size.n % per_word == 0);
}

/// function(Tile<...>()), the tile with copies that the size allows.
template <typename Config, typename Function>
void with_tile(const Size &size, const Function &function)
{
  if constexpr (Config::copies != Copies::numbers)
    if (!has_whole_words<Config>(size))
      return function(Tile<Unaligned<Config>>());
  function(Tile<Config>());
}

/// `count` products of matrices that lie one after the other; one without Config::batched.
template <typename Config>
void run(const char *name, const Size &size, const typename Tile<Config>::Stored *a,
    const typename Tile<Config>::Stored *b, typename Tile<Config>::Result *c, Stream stream,
    std::int64_t count = 1)
{
  const Tiles tiles = tiles_of(size, Config::m, Config::n);
  if (tiles.m * tiles.n == 0 || count == 0)
    return;
  constexpr std::int64_t most = Config::batched ? most_matrices : 1;
  if (count > most)
    throw std::length_error(
        "a batch of " + std::to_string(count) + " products; at most " + std::to_string(most));
  with_tile<Config>(size, [&]<typename T>(T) {
    prepare<T>(product_kernel<T>);
    launch(name, product_kernel<T>,
        dim3(static_cast<unsigned>(tiles.m * tiles.n), static_cast<unsigned>(count)),
        dim3(T::threads), T::shared_bytes, stream, static_cast<int>(size.m),
        static_cast<int>(size.n), static_cast<int>(size.k), tiles, a, b, c);
  });
}

/// One product by equal shares: whole tiles to C, sums of sections to `partial`, T::m x T::n numbers each.
template <typename Config>
void run_shares(const char *name, const Size &size, const StreamK &product,
    const typename Tile<Config>::Stored *a, const typename Tile<Config>::Stored *b,
    typename Tile<Config>::Result *c, typename Tile<Config>::Result *partial, Stream stream)
{
  with_tile<Config>(size, [&]<typename T>(T) {
    prepare<T>(shares_kernel<T>);
    launch(name, shares_kernel<T>, dim3(static_cast<unsigned>(product.blocks())), dim3(T::threads),
        T::shared_bytes, stream, static_cast<int>(size.m), static_cast<int>(size.n),
        static_cast<int>(size.k), product, a, b, c, partial);
  });
}
} // namespace tensormg::gemm
