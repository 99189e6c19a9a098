// Rings of planes in shared memory, and the threads that copy them: for kernels whose warps take every plane.
#pragma once

#include "kernels/laplace/march/place.cuh"

namespace tensormg::laplace::march
{
/// Planes of src with the cells around the tile; of b and old; of results on their way to memory.
template <typename Tile>
struct PlaneRings : BlockMemory<Tile>
{
  using Number = typename Tile::Number;
  using typename BlockMemory<Tile>::Barrier;
  using BlockMemory<Tile>::base, BlockMemory<Tile>::barrier;

  __device__ Number *own(int slot) const
  {
    return reinterpret_cast<Number *>(base + slot * Tile::slot_bytes);
  }
  __device__ Number *side(int slot, bool right) const
  {
    return reinterpret_cast<Number *>(
        base + slot * Tile::slot_bytes + (right ? Tile::right_at : Tile::left_at));
  }
  /// part 0: b, 1: old
  __device__ Number *input(int slot, int part) const
  {
    return reinterpret_cast<Number *>(
        base + Tile::input_offset + (Tile::inputs * slot + part) * Tile::input_bytes);
  }
  __device__ unsigned char *result(int slot) const
  {
    return base + Tile::result_offset + slot * Tile::input_bytes;
  }
  // Each slot has a barrier that says full and one that says empty.
  __device__ Barrier *own_full(int slot) const { return barrier(2 * slot); }
  __device__ Barrier *own_empty(int slot) const { return barrier(2 * slot + 1); }
  __device__ Barrier *input_full(int slot) const { return barrier(2 * (Tile::ring + slot)); }
  __device__ Barrier *input_empty(int slot) const { return barrier(2 * (Tile::ring + slot) + 1); }
  static constexpr int results = 2 * (Tile::ring + Tile::input_ring);
  __device__ Barrier *result_full(int slot) const { return barrier(results + 2 * slot); }
  __device__ Barrier *result_empty(int slot) const { return barrier(results + 2 * slot + 1); }
};

template <typename Tile>
__device__ void initialise(const PlaneRings<Tile> &shared)
{
  for (int slot = 0; slot < Tile::ring; ++slot)
  {
    pipeline::init(shared.own_full(slot), 1);
    pipeline::init(shared.own_empty(slot), pipeline::warp_arrivals * Tile::warps);
  }
  for (int slot = 0; slot < Tile::input_ring; ++slot)
  {
    pipeline::init(shared.input_full(slot), 1);
    pipeline::init(shared.input_empty(slot), pipeline::warp_arrivals * Tile::warps);
  }
  for (int slot = 0; slot < Tile::result_ring; ++slot)
  {
    pipeline::init(shared.result_full(slot), pipeline::warp_arrivals * Tile::warps);
    pipeline::init(shared.result_empty(slot), 1);
  }
  pipeline::fence_init();
}

/// Copies the planes of the tile (and those of the layers before and after the segment).
template <typename Tile>
__device__ void produce(const TileParameters<Tile> &p, const PlaneRings<Tile> &shared)
{
  pipeline::RingPosition<Tile::ring> at;
  // Two steps per layer: within a whole one L2 loses rows of cells before the block beside wants them.
  InStep step(p.progress, 2 * p.longest);
  Place s;
  for (int index = 0; place(p, index, s); ++index)
    for (int c = s.z0 - s.before; c < s.z1 + s.after; ++c)
    {
      for (int k = 0; k < Tile::n; ++k)
      {
        if (c >= s.z0 && c < s.z1 && (k == 0 || k == Tile::n / 2))
          step.begin_step();
        const int y = s.y0 * Tile::n, plane = c * Tile::n + k;
        pipeline::Barrier *full = shared.own_full(at.slot);
        pipeline::wait(shared.own_empty(at.slot), at.parity ^ 1u);
        pipeline::arrive_expect(full, Tile::own_box + 2 * Tile::side_box);
        pipeline::load_box_kept(shared.own(at.slot), &p.own, full, s.x0, 0, y - Tile::n, plane);
        pipeline::load_box_kept(shared.side(at.slot, false), &p.side, full, s.left, 0, y, plane);
        pipeline::load_box_kept(shared.side(at.slot, true), &p.side, full, s.right, 0, y, plane);
        at.advance();
      }
    }
  step.end();
}

/// Copies b and old in the order in which they are added. `Shared`: PlaneRings, or what has the same ring.
template <auto load_box = &pipeline::load_box, typename Tile, typename Shared>
__device__ void produce_input(const TileParameters<Tile> &p, const Shared &shared)
{
  pipeline::RingPosition<Tile::input_ring> at;
  Place s;
  for (int index = 0; place(p, index, s); ++index)
    for (int plane = s.z0 * Tile::n; plane < s.z1 * Tile::n; ++plane)
    {
      const int y = s.y0 * Tile::n;
      pipeline::Barrier *full = shared.input_full(at.slot);
      pipeline::wait(shared.input_empty(at.slot), at.parity ^ 1u);
      pipeline::arrive_expect(full, (p.has_old ? 2 : 1) * Tile::input_box);
      load_box(shared.input(at.slot, 0), &p.b, full, s.x0, 0, y, plane);
      if (p.has_old)
        load_box(shared.input(at.slot, 1), &p.old, full, s.x0, 0, y, plane);
      at.advance();
    }
}

/// Copies results to memory, planes of the whole tile.
template <typename Tile>
__device__ void store_results(const TileParameters<Tile> &p, const PlaneRings<Tile> &shared)
{
  pipeline::RingPosition<Tile::result_ring> at;
  Place s;
  for (int index = 0; place(p, index, s); ++index)
    for (int plane = s.z0 * Tile::n; plane < s.z1 * Tile::n; ++plane)
    {
      pipeline::wait(shared.result_full(at.slot), at.parity);
      pipeline::store_box(&p.result, shared.result(at.slot), s.x0, 0, s.y0 * Tile::n, plane);
      pipeline::wait_stores_read();
      pipeline::arrive(shared.result_empty(at.slot));
      at.advance();
    }
}
} // namespace tensormg::laplace::march
