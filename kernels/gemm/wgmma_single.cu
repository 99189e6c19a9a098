// The product of FP32 matrices by FP16 on Hopper's own instructions, with correction: A = A1 + 2^-11 A2, B likewise,
// A B = A1 B1 + 2^-11 (A2 B1 + A1 B2). A persistent block of one warpgroup that copies and splits B and two that
// multiply. One thread has the copy engine (TMA) fill a ring of stages with A and B as they are; the four warps of its
// warpgroup write B1 and B2 next to them, once for the whole block. A multiplying warpgroup splits its 64 rows of A in
// registers, which wgmma takes A from, and has 64 x 128 sums three times: products A1 B1 of one stage, which tensor
// cores cut off, their sums outside of the unit, and the corrections. While the corrections of a stage are under way,
// its products are added and the next rows of A are split, so that the unit never waits.
//
// Method: H. Ootomo and R. Yokota, IJHPCA 36 (2022).
#include <bit>
#include <string>

#include "kernels/core/launch.cuh"
#include "kernels/core/pipeline.cuh"
#include "kernels/core/shared_memory.cuh"
#include "kernels/core/tensor_map.h"
#include "kernels/gemm/aligned_rows.h"
#include "kernels/gemm/device.h"
#include "kernels/gemm/tile_order.h"
#include "kernels/gemm/units.cuh"
#include "kernels/mma/instructions.cuh"
#include "kernels/mma/shared_layout.h"
#include "kernels/mma/warpgroup.cuh"
#include "kernels/tensor/device_resources.cuh"

namespace tensormg::gemm
{
namespace
{
  using Shape = mma::M16N8K16<Half>; ///< of a warp's part of A
  using FactorA = mma::FragmentA<Shape>;

  constexpr int tile_m = 128, tile_n = 128, tile_k = 32;
  constexpr int stages = 4, ahead = 2; ///< copies are begun so many stages before B is split
  constexpr int warpgroup = 128, consumers = 2, threads = warpgroup * (1 + consumers);
  constexpr int splitting_warps = 4, consumer_warps = 4 * consumers;
  constexpr int products = tile_k / Shape::k; ///< along k, of a stage
  static_assert(products == 2, "the fragments of A are in two sets of registers");

  // A stage: A in boxes of 16 k, then B, then B1 and B2 as wgmma takes them: blocks of 64 columns, rows of 128 bytes.
  constexpr int box_bytes = tile_m * Shape::k * 4, bytes_a = products * box_bytes;
  constexpr int bytes_b = tile_k * tile_n * 4;
  constexpr int block_columns = 64, block_bytes = tile_k * block_columns * 2;
  constexpr int bytes_half = tile_n / block_columns * block_bytes; ///< of B1, of B2
  constexpr int stage_bytes = bytes_a + bytes_b + 2 * bytes_half;
  constexpr int shared_bytes = stages * stage_bytes + 3 * stages * 8;
  static_assert(shared_bytes <= 227 * 1024 && (bytes_a + bytes_b) % 1024 == 0);
  static_assert(stage_bytes % 1024 == 0 && bytes_half % 1024 == 0);

  constexpr float scale = 1 << 11; ///< what is small becomes as large as what is big

  struct Work
  {
    int m, n, steps;
    int tiles_m, tiles_n;
  };

  struct Ring
  {
    unsigned char *tiles;
    pipeline::Barrier *copied, *split, *empty;
    __device__ const float *a(int slot, int box) const
    {
      return reinterpret_cast<const float *>(tiles + slot * stage_bytes + box * box_bytes);
    }
    __device__ const float *b(int slot) const
    {
      return reinterpret_cast<const float *>(tiles + slot * stage_bytes + bytes_a);
    }
    __device__ unsigned char *halves(int slot) const
    {
      return tiles + slot * stage_bytes + bytes_a + bytes_b;
    }
  };

  /// Two numbers as two pairs of FP16 numbers.
  struct Split
  {
    std::uint32_t big, small;
    __device__ Split(float x, float y)
      : big(mma::to_halves(x, y))
    {
      const auto rounded = [&](int shift) {
        return as_float(std::bit_cast<Half>(static_cast<std::uint16_t>(big >> shift)));
      };
      small = mma::to_halves((x - rounded(0)) * scale, (y - rounded(16)) * scale);
    }
  };

  /// A lane reads four consecutive k of A at once, and these become its k 2t, 2t + 1, 2t + 8, 2t + 9 of the product,
  /// t = k / 4: the order along k does not matter as long as rows of B follow it.
  constexpr int place_of(int k) { return k / 16 * 16 + k % 16 / 4 * 2 + k % 2 + k / 2 % 2 * 8; }

  /// A warp: its rows of B to B1 and B2, half of a row of 16 bytes per lane. Several rows are loaded before any is stored:
  /// the compiler does not know that they are no part of B1 and B2.
  __device__ void split_b(const Ring &ring, int slot, int warp, int lane)
  {
    using Tile = mma::TmaTile<Half, mma::Swizzle128B>;
    constexpr int at_once = 4, rows = tile_k / splitting_warps;
    static_assert(tile_n == 32 * 4 && rows % at_once == 0);
    const int column = 4 * lane;
    const float *const from = ring.b(slot) + warp * tile_n + column;
    unsigned char *const block = ring.halves(slot) + column / block_columns * block_bytes;
    // Places of k and the swizzle take bits to bits: those of summands without a common bit are combined.
    const int offset = 2 * Tile()(place_of(warp), column % block_columns);
#pragma unroll
    for (int first = 0; first < rows; first += at_once)
    {
      float4 x[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i)
        x[i] = *reinterpret_cast<const float4 *>(from + (first + i) * splitting_warps * tile_n);
#pragma unroll
      for (int i = 0; i < at_once; ++i)
      {
        const Split left(x[i].x, x[i].y), right(x[i].z, x[i].w);
        unsigned char *const to = block + (offset ^ 2 * Tile()(place_of(i * splitting_warps), 0)) +
            2 * Tile()(place_of(first * splitting_warps), 0);
        *reinterpret_cast<uint2 *>(to) = make_uint2(left.big, right.big);
        *reinterpret_cast<uint2 *>(to + bytes_half) = make_uint2(left.small, right.small);
      }
    }
  }

  /// One thread: copies to a slot once nobody reads it any more.
  __device__ void copy_stage(const Ring &ring, const pipeline::RingPosition<stages> &at,
      const CUtensorMap *map_a, const CUtensorMap *map_b, const Position &tile, int step)
  {
    pipeline::wait(ring.empty + at.slot, at.parity ^ 1u);
    pipeline::Barrier *const copied = ring.copied + at.slot;
    pipeline::arrive_expect(copied, bytes_a + bytes_b);
#pragma unroll
    for (int box = 0; box < products; ++box)
      pipeline::load_box(const_cast<float *>(ring.a(at.slot, box)), map_a, copied,
          step * tile_k + box * Shape::k, 0, tile.m * tile_m, 0);
    pipeline::load_box(
        const_cast<float *>(ring.b(at.slot)), map_b, copied, tile.n * tile_n, 0, step * tile_k, 0);
  }

  /// A warpgroup.
  __device__ void copy_and_split(
      const Ring &ring, const CUtensorMap *map_a, const CUtensorMap *map_b, const Work &work)
  {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    BlockSteps to_copy(static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x),
        {work.tiles_m, work.tiles_n}, work.steps);
    pipeline::RingPosition<stages> copy_at, split_at;
    const auto copy = [&] {
      if (!to_copy.has_more())
        return;
      if (threadIdx.x == 0)
        copy_stage(ring, copy_at, map_a, map_b, to_copy.position(), to_copy.step());
      copy_at.advance();
      to_copy.advance();
    };
    for (int i = 0; i < ahead; ++i)
      copy();
    const int tiles = work.tiles_m * work.tiles_n, blocks = static_cast<int>(gridDim.x);
    const int own_tiles = (tiles - static_cast<int>(blockIdx.x) + blocks - 1) / blocks;
    for (int step = 0; step < own_tiles * work.steps; ++step)
    {
      copy();
      __syncwarp();
      pipeline::wait(ring.copied + split_at.slot, split_at.parity);
      split_b(ring, split_at.slot, warp, lane);
      pipeline::fence_copies(); // wgmma reads shared memory as the copy engine does
      __syncwarp();
      if (lane == 0)
        pipeline::arrive(ring.split + split_at.slot);
      split_at.advance();
    }
  }

  /// A lane's part of rows [row, row + 16) and 16 k of A.
  struct FactorsA
  {
    FactorA big, small;
    __device__ void fill(const float *box, int row, int lane)
    {
#pragma unroll
      for (int half = 0; half < 2; ++half)
      {
        const float4 x = *reinterpret_cast<const float4 *>(
            box + (row + lane / 4 + 8 * half) * Shape::k + lane % 4 * 4);
        const Split first(x.x, x.y), second(x.z, x.w);
        big.registers[half] = first.big;
        small.registers[half] = first.small;
        big.registers[2 + half] = second.big;
        small.registers[2 + half] = second.small;
      }
    }
  };

  /// Two numbers of a row at a time if n is even.
  __device__ void store(const float (&sums)[64], const float (&corrections)[64], const Work &work,
      int first_row, int first_column, float *c)
  {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto sum = [&](int i) { return sums[i] + corrections[i] * (1.F / scale); };
#pragma unroll
    for (int i = 0; i < 64; i += 2)
    {
      const int row = first_row + lane / 4 + 8 * (i / 2 % 2);
      const int column = first_column + 8 * (i / 4) + 2 * (lane % 4);
      float *const to = c + static_cast<std::int64_t>(row) * work.n + column;
      if (row >= work.m || column >= work.n)
        continue;
      if (work.n % 2 == 0)
        *reinterpret_cast<float2 *>(to) = make_float2(sum(i), sum(i + 1));
      else
      {
        to[0] = sum(i);
        if (column + 1 < work.n)
          to[1] = sum(i + 1);
      }
    }
  }

  /// A warpgroup; `group` counts those that multiply.
  __device__ void multiply_tiles(const Ring &ring, const Work &work, int group, float *c)
  {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = group * 64 + static_cast<int>(threadIdx.x) / 32 % 4 * 16; ///< the warp's first
    const auto release = [&](int slot) {
      __syncwarp();
      if (lane == 0)
        pipeline::arrive(ring.empty + slot); // what was read from it has been multiplied
    };
    pipeline::RingPosition<stages> at;
    for (int tile = static_cast<int>(blockIdx.x); tile < work.tiles_m * work.tiles_n;
         tile += static_cast<int>(gridDim.x))
    {
      float sums[64], product[64], corrections[64];
#pragma unroll
      for (int i = 0; i < 64; ++i)
        sums[i] = corrections[i] = 0.F;
      FactorsA a[products];
      pipeline::wait(ring.copied + at.slot, at.parity);
      a[0].fill(ring.a(at.slot, 0), row, lane);
      int previous = -1;
      for (int step = 0; step < work.steps; ++step)
      {
        const int slot = at.slot;
        const mma::SharedMatrix big = mma::rows_of_n(ring.halves(slot), block_bytes);
        const mma::SharedMatrix small = mma::rows_of_n(ring.halves(slot) + bytes_half, block_bytes);
        pipeline::wait(ring.split + slot, at.parity);
        at.advance();
#pragma unroll
        for (int i = 0; i < products; ++i)
        {
          mma::warpgroup_begin();
          mma::multiply_64x128x16(product, a[i].big, big.after(2048 * i), i > 0);
          mma::warpgroup_commit();
          mma::multiply_64x128x16(corrections, a[i].small, big.after(2048 * i), true);
          mma::multiply_64x128x16(corrections, a[i].big, small.after(2048 * i), true);
          mma::warpgroup_commit();
          // The groups before these two are complete: their factors of A can be replaced.
          mma::warpgroup_wait<2>();
          if (i == 0 && previous >= 0)
            release(previous);
          if (i + 1 < products)
            a[i + 1].fill(ring.a(slot, i + 1), row, lane);
          else if (step + 1 < work.steps)
          {
            pipeline::wait(ring.copied + at.slot, at.parity);
            a[0].fill(ring.a(at.slot, 0), row, lane);
          }
        }
        mma::warpgroup_wait<1>(product);
#pragma unroll
        for (int i = 0; i < 64; ++i)
          sums[i] += product[i];
        previous = slot;
      }
      mma::warpgroup_wait<0>(corrections);
      release(previous);
      const Position position = tile_position(tile, work.tiles_m, work.tiles_n);
      store(sums, corrections, work, position.m * tile_m + row, position.n * tile_n, c);
    }
  }

  __global__ void __launch_bounds__(threads, 1)
      wgmma_single_kernel(const __grid_constant__ CUtensorMap map_a,
          const __grid_constant__ CUtensorMap map_b, Work work, float *__restrict__ c)
  {
    auto *const barriers =
        reinterpret_cast<pipeline::Barrier *>(dynamic_shared() + stages * stage_bytes);
    const Ring ring{dynamic_shared(), barriers, barriers + stages, barriers + 2 * stages};
    if (threadIdx.x == 0)
    {
      for (int slot = 0; slot < stages; ++slot)
      {
        pipeline::init(ring.copied + slot, 1);
        pipeline::init(ring.split + slot, splitting_warps);
        pipeline::init(ring.empty + slot, consumer_warps);
      }
      pipeline::fence_init();
    }
    __syncthreads();
    if (threadIdx.x < warpgroup)
    {
      pipeline::shrink_registers<56>();
      copy_and_split(ring, &map_a, &map_b, work);
    }
    else
    {
      pipeline::grow_registers<224>();
      multiply_tiles(ring, work, static_cast<int>(threadIdx.x) / warpgroup - 1, c);
    }
  }
} // namespace

namespace
{
  /// The same method on mma.sync, which is divided along k: so few tiles that wgmma would leave nearly all of the device idle.
  constexpr SinglePolicy by_mma{Unit::mma, Format::fp16, Correction::outside};
  constexpr std::int64_t few_tiles = 8;

  bool is_for_mma(const Size &size)
  {
    return divide_up(size.m, tile_m) * divide_up(size.n, tile_n) <= few_tiles &&
        Single<by_mma>::workspace(size) > 0;
  }
} // namespace

template <>
std::int64_t wgmma_workspace<float>(const Size &size)
{
  return is_for_mma(size) ? Single<by_mma>::workspace(size) : aligned_numbers(size);
}

void single_wgmma(
    const Size &size, const float *a, const float *b, float *c, float *workspace, Stream stream)
{
  const Tiles tiles = tiles_of(size, tile_m, tile_n);
  if (tiles.m * tiles.n == 0)
    return;
  if (size.k == 0 || is_for_mma(size)) // without k there is nothing to describe
    return Single<by_mma>::multiply(size, a, b, c, workspace, stream);
  tensor::require_compiled_for(90, wgmma_single_kernel);
  const AlignedFactors<float> factors(size, a, b, workspace, stream);
  const dim3 grid = tensor::persistent_grid(wgmma_single_kernel, threads, shared_bytes,
      static_cast<unsigned long long>(tiles.m) * static_cast<unsigned long long>(tiles.n));
  // A matrix as a block of cells with one mode: rows of the matrix are rows of cells.
  const auto map = [](const float *matrix, std::int64_t rows, std::int64_t columns, int box_columns,
                       int box_rows) {
    return make_box_map(Block(2, 0, {columns, rows, 1}), matrix, box_columns, box_rows);
  };
  launch("launching the FP32 product by wgmma", wgmma_single_kernel, grid, dim3(threads),
      shared_bytes, stream, map(factors.a, size.m, factors.columns_a, Shape::k, tile_m),
      map(factors.b, size.k, factors.columns_b, tile_n, tile_k),
      Work{static_cast<int>(size.m), static_cast<int>(size.n),
          static_cast<int>((size.k + tile_k - 1) / tile_k), tiles.m, tiles.n},
      c);
}
} // namespace tensormg::gemm
