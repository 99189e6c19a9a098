// The other kernel of single_wgmma(), for few tiles and long k: factors come as they are, in FP32, and blocks split them.
// Splitting before the product (corrected.cuh) writes and reads both once more, which takes longer than such products.
//
// A block has one warpgroup that copies and splits B and one or two that multiply. One thread has the copy engine (TMA) fill a
// ring of stages with A and B; its warpgroup writes B1 and B2 next to them, once for all that multiply. These split their 64 rows
// of A in registers, which wgmma takes A from. As in corrected.cuh a warpgroup has its sums three times, and while the
// corrections of a stage are under way, its products are added and the next rows of A are split.
//
// A lane reads four consecutive k of A at once, and these become its k 2t, 2t + 1, 2t + 8, 2t + 9 of one of two products, t =
// lane % 4: the order along k does not matter as long as rows of B follow it.
#pragma once

#include "kernels/diagnostics/gemm/two_terms.cuh"
#include "kernels/diagnostics/gemm/wgmma/kernel.cuh"
#include "kernels/mma/shared_layout.h"

namespace tensormg::gemm::wgmma
{
/// What follows from a shape.
template <Shape shape>
struct SplitParts
{
  static constexpr bool is_persistent =
      false; ///< a block has one section: they are one wave, as a rule
  static constexpr int threads = warpgroup * (1 + shape.groups);
  static constexpr int splitting_warps = warpgroup / 32, consumer_warps = 4 * shape.groups;
  static constexpr int tile_m = shape.block_rows(), tile_n = shape.tile_n;
  static constexpr int step_k = shape.step_k(), products = step_k / 16;
  /// A stage: A in rows of 128 bytes as the engine permutes them, B row by row.
  static constexpr int bytes_a = tile_m * row_bytes, bytes_b = step_k * tile_n * 4;
  static constexpr int stage_bytes = bytes_a + bytes_b, ring_bytes = shape.stages * stage_bytes;
  /// B1 and B2 of a stage as wgmma takes them: blocks of 64 columns, rows of 128 bytes.
  static constexpr int block_bytes = step_k * row_bytes, term_bytes = tile_n / 64 * block_bytes;
  /// Groups of warps that split steps by turns: a step has fences and waits, which those of others fill.
  static constexpr int turns = tile_n == 128 ? 2 : 4, warps_of_step = splitting_warps / turns;
  static constexpr int slots = tile_n == 128 ? 3 : 4, slot_bytes = 2 * term_bytes;
  static constexpr int barriers = 2 * (shape.stages + slots);
  static constexpr int shared_bytes = ring_bytes + slots * slot_bytes + barriers * 8;
  static constexpr bool moves_registers = shape.groups > 1;
  static constexpr int registers_of_splitting = 56, registers_of_products = 224;
  static_assert(shape.splits && shape.terms == 2 && shape.groups <= 2 && shape.cluster == 1);
  static_assert(tile_n == 64 || tile_n == 128);
  static_assert(step_k * 4 == row_bytes && products == 2);
  static_assert(shape.per_multiprocessor * (shared_bytes + 1024) <= 228 * 1024);
  static_assert(stage_bytes % 1024 == 0 && bytes_a % 1024 == 0 && term_bytes % 1024 == 0);
  // A warp knows that the step before the last one of its slot has been multiplied: a stage whose last round may still be under way
  // would have the parity that it waits for.
  static_assert(slots >= turns && (shape.stages % turns == 0 || shape.stages >= turns + slots));
  static_assert(!moves_registers ||
      warpgroup * (registers_of_splitting + shape.groups * registers_of_products) <= 65536);
};

struct SplitRing
{
  unsigned char *stages, *terms;
  pipeline::Barrier *copied, *left; ///< of stages
  pipeline::Barrier *split, *empty; ///< of terms
};

/// The row of B1 and B2 that has k: of pieces of four numbers every other one is of the same product.
constexpr int place_of(int k) { return k / 4 % 2 * 16 + k / 8 % 4 * 2 + k % 2 + k / 2 % 2 * 8; }

/// One thread: copies step `index` of a section to a stage that all have left.
template <Shape shape>
__device__ void copy_step(const SplitRing &ring, const CUtensorMap *map_a, const CUtensorMap *map_b,
    const Section &section, int index)
{
  using P = SplitParts<shape>;
  const int slot = index % shape.stages;
  pipeline::wait(ring.left + slot, index / shape.stages % 2 ^ 1);
  pipeline::Barrier *const copied = ring.copied + slot;
  pipeline::arrive_expect(copied, P::stage_bytes);
  unsigned char *const a = ring.stages + slot * P::stage_bytes;
  const int k = (section.first + index) * P::step_k;
  pipeline::load_box(a, map_a, copied, k, 0, section.tile.m * P::tile_m, 0);
  pipeline::load_box(a + P::bytes_a, map_b, copied, section.tile.n * P::tile_n, 0, k, 0);
}

/// A warp: its rows of B to B1 and B2. Several rows are loaded before any is stored: the compiler does not know that they are
/// no part of B1 and B2.
template <Shape shape>
__device__ void split_b(const float *b, unsigned char *terms, int warp, int lane)
{
  using P = SplitParts<shape>;
  using Tile = mma::TmaTile<Half, mma::Swizzle128B>;
  constexpr int lanes_of_row = P::tile_n / 4;
  constexpr int rows_of_warp = 32 / lanes_of_row, rows = P::warps_of_step * rows_of_warp;
  constexpr int at_once = 4;
  static_assert(P::step_k % (rows * at_once) == 0);
  const int row = warp * rows_of_warp + lane / lanes_of_row, column = lane % lanes_of_row * 4;
  const float *const from = b + row * P::tile_n + column;
  unsigned char *const block = terms + column / 64 * P::block_bytes;
  // Places of k and the swizzle take bits to bits: those of summands without a common bit are combined.
  const int offset = 2 * Tile()(place_of(row), column % 64);
#pragma unroll
  for (int first = 0; first < P::step_k; first += rows * at_once)
  {
    float4 x[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i)
      x[i] = *reinterpret_cast<const float4 *>(from + (first + i * rows) * P::tile_n);
#pragma unroll
    for (int i = 0; i < at_once; ++i)
    {
      const Split left(x[i].x, x[i].y), right(x[i].z, x[i].w);
      unsigned char *const to = block + (offset ^ 2 * Tile()(place_of(first + i * rows), 0));
      *reinterpret_cast<uint2 *>(to) = make_uint2(left.big, right.big);
      *reinterpret_cast<uint2 *>(to + P::term_bytes) = make_uint2(left.small, right.small);
    }
  }
}

/// A warpgroup.
template <Shape shape>
__device__ void copy_and_split(const SplitRing &ring, const CUtensorMap *map_a,
    const CUtensorMap *map_b, const Section &section)
{
  using P = SplitParts<shape>;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int turn = warp / P::warps_of_step, warp_of_step = warp % P::warps_of_step;
  const int steps = section.end - section.first;
  if (threadIdx.x == 0)
    for (int step = 0; step < shape.stages && step < steps; ++step)
      copy_step<shape>(ring, map_a, map_b, section, step);
  __syncwarp();
  for (int step = turn; step < steps; step += P::turns)
  {
    // To the stage of this group's step before: those that multiply have left it by now.
    const int next = step - P::turns + shape.stages;
    if (warp_of_step == 0 && lane == 0 && step >= P::turns && next < steps)
      copy_step<shape>(ring, map_a, map_b, section, next);
    __syncwarp();
    const int stage = step % shape.stages, slot = step % P::slots;
    pipeline::wait(ring.copied + stage, step / shape.stages % 2);
    pipeline::wait(ring.empty + slot, step / P::slots % 2 ^ 1);
    split_b<shape>(
        reinterpret_cast<const float *>(ring.stages + stage * P::stage_bytes + P::bytes_a),
        ring.terms + slot * P::slot_bytes, warp_of_step, lane);
    pipeline::fence_copies(); // wgmma reads shared memory as the copy engine does
    pipeline::arrive(ring.split + slot);
    pipeline::arrive(ring.left + stage);
  }
}

/// A lane's part of rows [row, row + 16) and 16 k of A.
struct FactorsA
{
  using Factor = mma::FragmentA<mma::M16N8K16<Half>>;
  Factor big, small;

  __device__ void fill(const unsigned char *stage, int row, int lane, int product)
  {
    using Tile = mma::TmaTile<float, mma::Swizzle128B>;
    // Lanes of two rows that are served together read all eight pieces of a row between them.
    const float *const from = reinterpret_cast<const float *>(stage) +
        (Tile()(row + lane / 4, lane % 4 * 8) ^ 4 * product);
#pragma unroll
    for (int half = 0; half < 2; ++half)
    {
      const float4 x = *reinterpret_cast<const float4 *>(from + half * Tile()(8, 0));
      const Split first(x.x, x.y), second(x.z, x.w);
      big.registers[half] = first.big;
      small.registers[half] = first.small;
      big.registers[2 + half] = second.big;
      small.registers[2 + half] = second.small;
    }
  }
};

template <int count>
__device__ void multiply(
    float (&sums)[count], const FactorsA::Factor &a, mma::SharedMatrix b, bool accumulate = true)
{
  if constexpr (count == 64)
    mma::multiply_64x128x16(sums, a, b, accumulate);
  else
    mma::multiply_64x64x16(sums, a, b, accumulate);
}

/// A warpgroup; `group` counts those that multiply.
template <Shape shape>
__device__ void multiply_split_section(
    const SplitRing &ring, const Work &work, const Section &section, int group)
{
  using P = SplitParts<shape>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = group * 64 + static_cast<int>(threadIdx.x) / 32 % 4 * 16; ///< the warp's first
  pipeline::RingPosition<shape.stages> at;
  pipeline::RingPosition<P::slots> terms_at;
  constexpr int count = P::tile_n / 2;
  float sums[count], product[count], corrections[count];
#pragma unroll
  for (int i = 0; i < count; ++i)
    sums[i] = corrections[i] = 0.F;
  FactorsA a[P::products];
  pipeline::wait(ring.copied, 0);
  a[0].fill(ring.stages, row, lane, 0);
  int previous = -1;
  for (int step = section.first; step < section.end; ++step)
  {
    const int slot = at.slot;
    const unsigned char *const terms = ring.terms + terms_at.slot * P::slot_bytes;
    const mma::SharedMatrix big = mma::rows_of_n(terms, P::block_bytes);
    const mma::SharedMatrix small = mma::rows_of_n(terms + P::term_bytes, P::block_bytes);
    pipeline::wait(ring.split + terms_at.slot, terms_at.parity);
    at.advance();
#pragma unroll
    for (int i = 0; i < P::products; ++i)
    {
      mma::warpgroup_begin();
      multiply(product, a[i].big, big.after(16 * row_bytes * i), i > 0);
      mma::warpgroup_commit();
      multiply(corrections, a[i].small, big.after(16 * row_bytes * i));
      multiply(corrections, a[i].big, small.after(16 * row_bytes * i));
      mma::warpgroup_commit();
      // Products have taken all of A from registers, so a plain arrival is enough before the engine overwrites it.
      if (i + 1 == P::products)
        pipeline::arrive(ring.left + slot);
      // The groups before these two are complete: their factors of A can be replaced.
      mma::warpgroup_wait<2>();
      if (i == 0 && previous >= 0)
        pipeline::arrive(ring.empty + previous);
      if (i + 1 < P::products)
        a[i + 1].fill(ring.stages + slot * P::stage_bytes, row, lane, i + 1);
      else if (step + 1 < section.end)
      {
        pipeline::wait(ring.copied + at.slot, at.parity);
        a[0].fill(ring.stages + at.slot * P::stage_bytes, row, lane, 0);
      }
    }
    mma::warpgroup_wait<1>(product);
#pragma unroll
    for (int i = 0; i < count; ++i)
      sums[i] += product[i];
    previous = terms_at.slot;
    terms_at.advance();
  }
  mma::warpgroup_wait<0>(corrections);
#pragma unroll
  for (int i = 0; i < count; ++i)
    sums[i] = fmaf(corrections[i], 1.F / scale_of_small_term, sums[i]);
  store_section<shape>(sums, work, section, row, 0, nullptr);
}

/// `index` in the table of shapes.
template <int index>
__global__ void __launch_bounds__(
    SplitParts<split_shapes[index]>::threads, split_shapes[index].per_multiprocessor)
    split_product_kernel(const __grid_constant__ CUtensorMap map_a,
        const __grid_constant__ CUtensorMap map_b, const __grid_constant__ Work work)
{
  constexpr Shape shape = split_shapes[index];
  using P = SplitParts<shape>;
  unsigned char *const terms = dynamic_shared() + P::ring_bytes;
  auto *const barriers = reinterpret_cast<pipeline::Barrier *>(terms + P::slots * P::slot_bytes);
  const SplitRing ring{dynamic_shared(), terms, barriers, barriers + shape.stages,
      barriers + 2 * shape.stages, barriers + 2 * shape.stages + P::slots};
  if (threadIdx.x == 0)
  {
    pipeline::prefetch_map(&map_a);
    pipeline::prefetch_map(&map_b);
    for (int slot = 0; slot < shape.stages; ++slot)
    {
      pipeline::init(ring.copied + slot, 1);
      pipeline::init(
          ring.left + slot, pipeline::warp_arrivals * (P::warps_of_step + P::consumer_warps));
    }
    for (int slot = 0; slot < P::slots; ++slot)
    {
      pipeline::init(ring.split + slot, pipeline::warp_arrivals * P::warps_of_step);
      pipeline::init(ring.empty + slot, pipeline::warp_arrivals * P::consumer_warps);
    }
    pipeline::fence_init();
  }
  __syncthreads();
  const Section section = section_of(work.division, static_cast<int>(blockIdx.x));
  pipeline::wait_for_kernel_before();
  pipeline::let_next_kernel_start();
  if (threadIdx.x < warpgroup)
  {
    if constexpr (P::moves_registers)
      pipeline::shrink_registers<P::registers_of_splitting>();
    copy_and_split<shape>(ring, &map_a, &map_b, section);
  }
  else
  {
    if constexpr (P::moves_registers)
      pipeline::grow_registers<P::registers_of_products>();
    multiply_split_section<shape>(
        ring, work, section, static_cast<int>(threadIdx.x) / warpgroup - 1);
  }
}
} // namespace tensormg::gemm::wgmma
