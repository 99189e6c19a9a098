// The product on Hopper's own instructions: a persistent block of one warpgroup that copies and two that multiply.
// One thread has the copy engine (TMA) fill a ring of four stages; barriers in shared memory say which stages are full
// and which are empty. Each multiplying warpgroup has 64 x 256 sums in registers and takes its operands straight
// from shared memory. Blocks come in clusters of two with tiles below each other: each loads half of the tile of B, for
// both. That takes a third from what the second cache gives, which bounds matrices whose rows do not start at
// multiples of 128 bytes.
#include <algorithm>

#include "kernels/core/cluster.cuh"
#include "kernels/core/pipeline.cuh"
#include "kernels/core/shared_memory.cuh"
#include "kernels/core/tensor_map.h"
#include "kernels/gemm/aligned_rows.h"
#include "kernels/gemm/device.h"
#include "kernels/gemm/tile_order.h"
#include "kernels/mma/warpgroup.cuh"
#include "kernels/tensor/device_resources.cuh"

namespace tensormg::gemm
{
namespace
{
  constexpr int tile_m = 128, tile_n = 256, tile_k = 64;
  constexpr int stages = 4;
  constexpr int warpgroup = 128, consumers = 2, threads = warpgroup * (1 + consumers);
  constexpr int consumer_warps = consumers * warpgroup / 32;
  constexpr int row_halves = 64; ///< of a tile in shared memory: 128 bytes
  constexpr int bytes_a = tile_m * tile_k * 2, block_bytes = tile_k * row_halves * 2;
  constexpr int blocks_b = tile_n / row_halves, bytes_b = blocks_b * block_bytes;
  constexpr int cluster_blocks = 2, own_blocks_b = blocks_b / cluster_blocks;
  constexpr int stage_bytes = bytes_a + bytes_b;
  constexpr int shared_bytes = stages * stage_bytes + 2 * stages * 8;
  static_assert(tile_k == row_halves && shared_bytes <= 227 * 1024);
  static_assert(stage_bytes % 1024 == 0 && bytes_a % 1024 == 0);

  struct Work
  {
    int m, n, steps;
    Tiles tiles; ///< of clusters

    /// The steps of this block's cluster.
    __device__ BlockSteps block_steps() const
    {
      return {static_cast<int>(blockIdx.x) / cluster_blocks,
          static_cast<int>(gridDim.x) / cluster_blocks, tiles, steps};
    }
    __device__ int first_row(const Position &tile) const
    {
      return (tile.m * cluster_blocks + cluster::rank()) * tile_m;
    }
  };

  struct Ring
  {
    unsigned char *tiles;
    pipeline::Barrier *full, *empty;
    __device__ unsigned char *a(int slot) const { return tiles + slot * stage_bytes; }
    __device__ unsigned char *b(int slot) const { return a(slot) + bytes_a; }
  };

  /// One thread.
  __device__ void copy_tiles(
      const Ring &ring, const CUtensorMap *map_a, const CUtensorMap *map_b, const Work &work)
  {
    pipeline::RingPosition<stages> at;
    for (BlockSteps steps = work.block_steps(); steps.has_more(); steps.advance())
    {
      // All blocks of the cluster have left the slot.
      pipeline::wait(ring.empty + at.slot, at.parity ^ 1u);
      pipeline::Barrier *const full = ring.full + at.slot;
      pipeline::arrive_expect(full, stage_bytes);
      const int k = steps.step() * tile_k;
      pipeline::load_box(ring.a(at.slot), map_a, full, k, 0, work.first_row(steps.position()), 0);
#pragma unroll
      for (int i = 0; i < own_blocks_b; ++i)
      {
        const int block = cluster::rank() * own_blocks_b + i;
        cluster::load_box_for_all<cluster_blocks>(ring.b(at.slot) + block * block_bytes, map_b,
            full, steps.position().n * tile_n + block * row_halves, 0, k, 0);
      }
      at.advance();
    }
  }

  /// Four numbers of a row at a time: of every two blocks of 8 columns, lanes next to each other trade the halves that make
  /// pairs neighbours. Rows of 64 bytes instead of 32 per store halve the time. Rows of C that start anywhere are stored
  /// number by number.
  __device__ void store(
      const float (&sums)[128], const Work &work, int first_row, int first_column, float *c)
  {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const bool is_right = lane % 2 != 0;
#pragma unroll
    for (int i = 0; i < 128; i += 8)
#pragma unroll
      for (int half = 0; half < 2; ++half)
      {
        const float *const left = sums + i + 2 * half, *const right = left + 4;
        const float x = __shfl_xor_sync(~0u, is_right ? left[0] : right[0], 1);
        const float y = __shfl_xor_sync(~0u, is_right ? left[1] : right[1], 1);
        const int row = first_row + lane / 4 + 8 * half;
        const int column = first_column + 8 * (i / 4 + lane % 2) + 4 * (lane % 4 / 2);
        const float4 four =
            is_right ? make_float4(x, y, right[0], right[1]) : make_float4(left[0], left[1], x, y);
        float *const to = c + static_cast<std::int64_t>(row) * work.n + column;
        if (row >= work.m)
          continue;
        if (work.n % 4 == 0)
        {
          if (column < work.n)
            *reinterpret_cast<float4 *>(to) = four;
          continue;
        }
        const int count = work.n - column;
        if (count > 0)
          to[0] = four.x;
        if (count > 1)
          to[1] = four.y;
        if (count > 2)
          to[2] = four.z;
        if (count > 3)
          to[3] = four.w;
      }
  }

  /// A warpgroup; `group` counts those that multiply.
  __device__ void multiply_tiles(const Ring &ring, const Work &work, int group, float *c)
  {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
    const auto release = [&](int slot) {
      __syncwarp();
      if (lane < cluster_blocks)
        cluster::arrive_at(ring.empty + slot, lane);
    };
    pipeline::RingPosition<stages> at;
    const int clusters = static_cast<int>(gridDim.x) / cluster_blocks;
    for (int tile = static_cast<int>(blockIdx.x) / cluster_blocks;
         tile < work.tiles.m * work.tiles.n; tile += clusters)
    {
      float sums[128];
#pragma unroll
      for (float &sum : sums)
        sum = 0.F;
      int previous = -1;
      for (int step = 0; step < work.steps; ++step)
      {
        pipeline::wait(ring.full + at.slot, at.parity);
        const mma::SharedMatrix a = mma::rows_of_k(ring.a(at.slot) + group * (bytes_a / consumers));
        const mma::SharedMatrix b = mma::rows_of_n(ring.b(at.slot), block_bytes);
        mma::warpgroup_begin();
#pragma unroll
        for (int k = 0; k < tile_k; k += 16)
          mma::multiply_64x256x16(sums, a.after(2 * k), b.after(128 * k), true);
        mma::warpgroup_commit();
        // One group stays under way; the stage of the one before it is free.
        mma::warpgroup_wait<1>(sums);
        if (previous >= 0)
          release(previous);
        previous = at.slot;
        at.advance();
      }
      mma::warpgroup_wait<0>(sums);
      if (previous >= 0)
        release(previous);
      const Position position = tile_position(tile, work.tiles.m, work.tiles.n);
      store(sums, work, work.first_row(position) + group * 64 + warp * 16, position.n * tile_n, c);
    }
  }

  __global__ void __cluster_dims__(cluster_blocks, 1, 1) __launch_bounds__(threads, 1)
      wgmma_kernel(const __grid_constant__ CUtensorMap map_a,
          const __grid_constant__ CUtensorMap map_b, Work work, float *__restrict__ c)
  {
    auto *const barriers =
        reinterpret_cast<pipeline::Barrier *>(dynamic_shared() + stages * stage_bytes);
    const Ring ring{dynamic_shared(), barriers, barriers + stages};
    if (threadIdx.x == 0)
    {
      for (int slot = 0; slot < stages; ++slot)
      {
        pipeline::init(ring.full + slot, 1);
        pipeline::init(ring.empty + slot, cluster_blocks * consumer_warps);
      }
      pipeline::fence_init();
    }
    cluster::synchronize();
    if (threadIdx.x < warpgroup)
    {
      pipeline::shrink_registers<40>();
      if (threadIdx.x == 0)
        copy_tiles(ring, &map_a, &map_b, work);
    }
    else
    {
      pipeline::grow_registers<232>();
      multiply_tiles(ring, work, static_cast<int>(threadIdx.x) / warpgroup - 1, c);
    }
    cluster::synchronize();
  }

  /// Whole clusters that run at once.
  int resident_clusters()
  {
    return resident_blocks(reinterpret_cast<const void *>(wgmma_kernel), threads, shared_bytes) /
        cluster_blocks;
  }
} // namespace

Blocking fp16_wgmma_blocking()
{
  tensor::require_compiled_for(90, wgmma_kernel);
  return {cluster_blocks * tile_m, tile_n, resident_clusters()};
}

void fp16_wgmma(
    const Size &size, const Half *a, const Half *b, float *c, Half *workspace, Stream stream)
{
  const Tiles tiles = tiles_of(size, cluster_blocks * tile_m, tile_n);
  if (tiles.m * tiles.n == 0)
    return;
  if (size.k == 0)
    return fp16<Rung::larger>(size, a, b, c, stream); // there is nothing to describe
  tensor::require_compiled_for(90, wgmma_kernel);
  const AlignedFactors<Half> factors(size, a, b, workspace, stream);
  const int clusters = std::min(resident_clusters(), tiles.m * tiles.n);
  // A matrix as a block of cells with one mode: rows of the matrix are rows of cells.
  const auto map = [](const Half *matrix, std::int64_t rows, std::int64_t columns, int box_rows) {
    return make_box_map(
        Block(2, 0, {columns, rows, 1}), matrix, row_halves, box_rows, BoxLayout::swizzled_128);
  };
  cluster::launch_clusters("launching the product by wgmma", wgmma_kernel,
      dim3(static_cast<unsigned>(clusters * cluster_blocks)), dim3(threads), shared_bytes, stream,
      map(factors.a, size.m, factors.columns_a, tile_m),
      map(factors.b, size.k, factors.columns_b, tile_k),
      Work{static_cast<int>(size.m), static_cast<int>(size.n),
          static_cast<int>((size.k + tile_k - 1) / tile_k), tiles},
      c);
}
} // namespace tensormg::gemm
