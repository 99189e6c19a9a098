// The kernels of fp16_wgmma() and single_wgmma(): a persistent block of one warpgroup that copies and one to three that multiply.
// One thread has the copy engine (TMA) fill a ring of stages; barriers in shared memory say which stages are full
// and which are empty. Each multiplying warpgroup has 64 rows of sums in registers and takes its operands straight
// from shared memory. Blocks may come in clusters with tiles below each other: each loads its share of the tile of B, for
// all. That takes a third from what the second cache gives to large tiles, which bounds matrices whose rows do not start
// at multiples of 128 bytes.
#pragma once

#include <numeric>

#include "kernels/device/cluster.cuh"
#include "kernels/device/pipeline.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/diagnostics/gemm/tile_order.h"
#include "kernels/diagnostics/gemm/wgmma/plan.h"
#include "kernels/mma/warpgroup.cuh"

namespace tensormg::gemm::wgmma
{
inline constexpr int row_bytes = 128;
inline constexpr int warpgroup = 128;

/// Where a warp turns its sums into whole rows: 16 rows of 32 columns. Pairs that half of a warp writes lie in different banks.
struct RowsOfWarp
{
  float at[16][40];
};

/// What follows from a shape.
template <Shape shape>
struct Parts
{
  static constexpr bool is_persistent = true;
  static constexpr int threads = warpgroup * (1 + shape.groups);
  static constexpr int consumer_warps = 4 * shape.groups;
  static constexpr int tile_m = shape.block_rows(), tile_n = shape.tile_n;
  static constexpr int group_columns = shape.side_by_side ? tile_n / shape.groups : tile_n;
  static constexpr int term_bytes_a = tile_m * row_bytes, bytes_a = shape.terms * term_bytes_a;
  static constexpr int block_bytes = tile_k * row_bytes, blocks_b = shape.blocks_b();
  static constexpr int bytes_b = blocks_b * block_bytes, term_bytes_b = bytes_b / shape.terms;
  /// B is loaded in pieces of whole blocks or some of their rows, by the blocks of a cluster in turn: all load as many where rows
  /// in groups of eight, which the pattern in shared memory repeats, can be divided so.
  static constexpr int rows_b = tile_k * blocks_b, even_pieces = std::lcm(blocks_b, shape.cluster);
  static constexpr int piece_rows = rows_b % (8 * even_pieces) == 0 ? rows_b / even_pieces : 8;
  static constexpr int pieces_b = rows_b / piece_rows;
  static constexpr int stage_bytes = bytes_a + bytes_b;
  static constexpr int ring_bytes = shape.stages * stage_bytes;
  static constexpr int rows_bytes = consumer_warps * static_cast<int>(sizeof(RowsOfWarp));
  static constexpr int shared_bytes = ring_bytes + rows_bytes + 2 * shape.stages * 8;
  /// The warpgroup that copies leaves registers to those that multiply.
  static constexpr bool moves_registers = shape.groups > 1 && shape.per_multiprocessor == 1;
  static constexpr int registers_of_copies = shape.groups == 2 ? 40 : 32;
  static constexpr int registers_of_products = shape.groups == 2 ? 232 : 160;
  static_assert(shape.groups <= 3);
  static_assert(shape.per_multiprocessor * (shared_bytes + 1024) <= 228 * 1024);
  static_assert(stage_bytes % 1024 == 0 && piece_rows % 8 == 0);
  static_assert(shape.terms == 1 || (!shape.side_by_side && tile_n % 64 == 0));
};

struct Work
{
  int m, n;
  Division division; ///< into tiles of clusters
  float *c, *partial;
};

struct Ring
{
  unsigned char *tiles;
  pipeline::Barrier *full, *empty;
  RowsOfWarp *rows;
};

/// One thread.
template <Shape shape>
__device__ void copy_tiles(
    const Ring &ring, const CUtensorMap *map_a, const CUtensorMap *map_b, const Work &work)
{
  using P = Parts<shape>;
  const int rank = cluster::rank<shape.cluster>();
  pipeline::RingPosition<shape.stages> at;
  for (int index = static_cast<int>(blockIdx.x) / shape.cluster; index < work.division.sections();
       index += static_cast<int>(gridDim.x) / shape.cluster)
  {
    const Section section = section_of(work.division, index);
    for (int step = section.first; step < section.end; ++step)
    {
      // All blocks of the cluster have left the slot.
      pipeline::wait(ring.empty + at.slot, at.parity ^ 1u);
      pipeline::Barrier *const full = ring.full + at.slot;
      pipeline::arrive_expect(full, P::stage_bytes);
      unsigned char *const a = ring.tiles + at.slot * P::stage_bytes, *const b = a + P::bytes_a;
      const int k = step * tile_k;
      pipeline::load_box(
          a, map_a, full, k, 0, (section.tile.m * shape.cluster + rank) * P::tile_m, 0);
#pragma unroll
      for (int first = 0; first < P::pieces_b; first += shape.cluster)
      {
        const int row = (first + rank) * P::piece_rows; // of all blocks
        if (P::pieces_b % shape.cluster != 0 && row >= P::rows_b)
          break;
        constexpr int blocks_of_term = P::blocks_b / shape.terms;
        const int block = row / tile_k;
        cluster::load_box_for_all<shape.cluster>(b + row * row_bytes, map_b, full,
            section.tile.n * P::tile_n + block % blocks_of_term * 64, 0, k + row % tile_k,
            block / blocks_of_term);
      }
      at.advance();
    }
  }
  // A block's memory stays until the others have arrived at its barriers for the last time. Meeting them at a barrier of the
  // cluster would wait for all stores, too.
  if constexpr (shape.cluster > 1)
    for (int i = 0; i < shape.stages; ++i)
    {
      pipeline::wait(ring.empty + at.slot, at.parity ^ 1u);
      at.advance();
    }
}

/// Rows and columns that there are; numbers from row to row.
struct Target
{
  float *to;
  int rows, columns, stride;
};

/// Four numbers of a row at a time: of every two blocks of 8 columns, lanes next to each other trade the halves that make
/// pairs neighbours. Rows of 64 bytes instead of 32 per store halve the time.
template <int count>
__device__ void store_by_four(
    const float (&sums)[count], const Target &target, int first_row, int first_column)
{
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const bool is_right = lane % 2 != 0;
#pragma unroll
  for (int i = 0; i < count; i += 8)
#pragma unroll
    for (int half = 0; half < 2; ++half)
    {
      const float *const left = sums + i + 2 * half, *const right = left + 4;
      const float x = __shfl_xor_sync(~0u, is_right ? left[0] : right[0], 1);
      const float y = __shfl_xor_sync(~0u, is_right ? left[1] : right[1], 1);
      const int row = first_row + lane / 4 + 8 * half;
      const int column = first_column + 8 * (i / 4 + lane % 2) + 4 * (lane % 4 / 2);
      if (row < target.rows && column < target.columns)
        *reinterpret_cast<float4 *>(
            target.to + static_cast<std::int64_t>(row) * target.stride + column) =
            is_right ? make_float4(x, y, right[0], right[1]) : make_float4(left[0], left[1], x, y);
    }
}

/// Rows that start anywhere: 32 numbers of a row at a time, by way of shared memory. Stored from where they are, number by
/// number, they touch six times as many sectors.
template <int count>
__device__ void store_by_rows(const float (&sums)[count], const Target &target, int first_row,
    int first_column, RowsOfWarp &rows)
{
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < count; i += 16)
  {
#pragma unroll
    for (int block = 0; block < 4; ++block)
#pragma unroll
      for (int half = 0; half < 2; ++half)
      {
        const float *const pair = sums + i + 4 * block + 2 * half;
        *reinterpret_cast<float2 *>(&rows.at[lane / 4 + 8 * half][8 * block + lane % 4 * 2]) =
            make_float2(pair[0], pair[1]);
      }
    __syncwarp();
    const int column = first_column + 2 * i + lane;
    float *const to = target.to + static_cast<std::int64_t>(first_row) * target.stride + column;
    if (column < target.columns)
#pragma unroll
      for (int row = 0; row < 16; ++row)
        if (first_row + row < target.rows)
          to[static_cast<std::int64_t>(row) * target.stride] = rows.at[row][lane];
    __syncwarp();
  }
}

template <int count>
__device__ void multiply(
    float (&sums)[count], mma::SharedMatrix a, mma::SharedMatrix b, bool accumulate = true)
{
  if constexpr (count == 128)
    mma::multiply_64x256x16(sums, a, b, accumulate);
  else if constexpr (count == 112)
    mma::multiply_64x224x16(sums, a, b, accumulate);
  else if constexpr (count == 96)
    mma::multiply_64x192x16(sums, a, b, accumulate);
  else if constexpr (count == 64)
    mma::multiply_64x128x16(sums, a, b, accumulate);
  else
    mma::multiply_64x64x16(sums, a, b, accumulate);
}

/// The sums of a section to C, or where those of parts lie: of rows [row, row + 16) of the cluster's tile.
template <Shape shape, int count>
__device__ void store_section(const float (&sums)[count], const Work &work, const Section &section,
    int row, int column, RowsOfWarp *rows_of_warps)
{
  constexpr int rows = shape.rows(), columns = shape.tile_n;
  const int row_of_c = section.tile.m * rows + row, column_of_c = section.tile.n * columns + column;
  const Target c{work.c, work.m, work.n, work.n};
  if constexpr (!shape.splits) // n is a multiple of 4 otherwise
    if (section.partial < 0 && work.n % 4 != 0)
      return store_by_rows(sums, c, row_of_c, column_of_c,
          rows_of_warps[static_cast<int>(threadIdx.x) / 32 - warpgroup / 32]);
  if (section.partial < 0)
    store_by_four(sums, c, row_of_c, column_of_c);
  else
    store_by_four(sums,
        {work.partial + static_cast<std::int64_t>(section.partial) * rows * columns, rows,
            shape.has_edges() ? work.n - section.tile.n * columns : columns, columns},
        row, column);
}

/// A warpgroup; `group` counts those that multiply.
template <Shape shape>
__device__ void multiply_tiles(const Ring &ring, const Work &work, int group)
{
  using P = Parts<shape>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const int group_row = shape.side_by_side ? 0 : group * 64; ///< of the block's tile
  const int group_column = shape.side_by_side ? group * P::group_columns : 0;
  const int rank = cluster::rank<shape.cluster>();
  const auto release = [&](int slot) {
    __syncwarp();
    if (lane < shape.cluster)
      cluster::arrive_at<shape.cluster>(ring.empty + slot, lane);
  };
  pipeline::RingPosition<shape.stages> at;
  for (int index = static_cast<int>(blockIdx.x) / shape.cluster; index < work.division.sections();
       index += static_cast<int>(gridDim.x) / shape.cluster)
  {
    const Section section = section_of(work.division, index);
    float sums[P::group_columns / 2];
#pragma unroll
    for (float &sum : sums)
      sum = 0.F;
    int previous = -1;
    for (int step = section.first; step < section.end; ++step)
    {
      pipeline::wait(ring.full + at.slot, at.parity);
      unsigned char *const tiles = ring.tiles + at.slot * P::stage_bytes;
      const mma::SharedMatrix a = mma::rows_of_k(tiles + group_row * row_bytes);
      const mma::SharedMatrix b =
          mma::rows_of_n(tiles + P::bytes_a + group_column / 64 * P::block_bytes, P::block_bytes);
      mma::warpgroup_begin();
#pragma unroll
      for (int k = 0; k < tile_k; k += 16)
        multiply(sums, a.after(2 * k), b.after(row_bytes * k));
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
    store_section<shape>(
        sums, work, section, rank * P::tile_m + group_row + warp * 16, group_column, ring.rows);
  }
}

/// A block: `multiply` is called by each warpgroup that multiplies.
template <Shape shape, typename Multiply>
__device__ void run_block(
    const CUtensorMap *map_a, const CUtensorMap *map_b, const Work &work, Multiply multiply)
{
  using P = Parts<shape>;
  auto *const barriers =
      reinterpret_cast<pipeline::Barrier *>(dynamic_shared() + P::ring_bytes + P::rows_bytes);
  const Ring ring{dynamic_shared(), barriers, barriers + shape.stages,
      reinterpret_cast<RowsOfWarp *>(dynamic_shared() + P::ring_bytes)};
  if (threadIdx.x == 0)
  {
    pipeline::prefetch_map(map_a);
    pipeline::prefetch_map(map_b);
    for (int slot = 0; slot < shape.stages; ++slot)
    {
      pipeline::init(ring.full + slot, 1);
      pipeline::init(ring.empty + slot, shape.cluster * P::consumer_warps);
    }
    pipeline::fence_init();
  }
  cluster::synchronize<shape.cluster>();
  pipeline::wait_for_kernel_before();
  pipeline::let_next_kernel_start();
  if (threadIdx.x < warpgroup)
  {
    if constexpr (P::moves_registers)
      pipeline::shrink_registers<P::registers_of_copies>();
    if (threadIdx.x == 0)
      copy_tiles<shape>(ring, map_a, map_b, work);
  }
  else
  {
    if constexpr (P::moves_registers)
      pipeline::grow_registers<P::registers_of_products>();
    multiply(ring, static_cast<int>(threadIdx.x) / warpgroup - 1);
  }
}

/// `index` in the table of shapes: nvcc names no kernels by structures.
template <int index>
__global__ void __cluster_dims__(shapes[index].cluster, 1, 1)
    __launch_bounds__(Parts<shapes[index]>::threads, shapes[index].per_multiprocessor)
        product_kernel(const __grid_constant__ CUtensorMap map_a,
            const __grid_constant__ CUtensorMap map_b, const __grid_constant__ Work work)
{
  constexpr Shape shape = shapes[index];
  run_block<shape>(&map_a, &map_b, work,
      [&](const Ring &ring, int group) { multiply_tiles<shape>(ring, work, group); });
}
} // namespace tensormg::gemm::wgmma
