// The `mma` backend in 3D, FP16 storage, degrees 4 to 8: sums over modes as products of matrices on tensor cores,
// with two layers of cells in shared memory, docs/kernels.md.
//
// As in mma_column/steps.cuh cells are the rows of the matrices, 16 neighbours in x, and modes or traces of lines their
// columns. There a warp holds B u of its cells in a layer, n^3 modes, until the traces of the layer above are known;
// here those are known before: the planes of a layer and of the one above are in shared memory together. So a plane
// is finished when it is worked on, accumulators live for one plane only, and several warps share the cells.
//   at the start of a layer   traces in z at both ends of own lines of the layer above, as late as possible, since its
//                             last plane may have just been asked for; sums and differences of those at its bottom and
//                             at the top of the layer below. Those at its top wait (two parts: are summed again).
//   plane by plane            x: traces of own lines, of the cells beside by a shuffle
//                             y: traces of the rows of cells below and above, from the tile or its halo
//                             and, of the plane before, traces x weights and D u added up, b, x_{k-1} (with it D u) in
//                             FP32; the result goes to b's place in shared memory, from where the copy engine writes it
// The warps that share 16 cells form traces in y for each other. Beyond that warps never meet, once all hold their
// weights: what they need of each other's cells they sum themselves.
// With parts = 2 weights and traces are sums of two numbers of FP16, 22 bits: for residuals.
#pragma once

#include "kernels/laplace/march/plane_rings.cuh"
#include "kernels/laplace/mma_layers/tile.h"

namespace tensormg::laplace
{
template <typename Tile>
struct MmaLayersParameters : TileParameters<Tile>
{
  CUtensorMap row_beside; ///< boxes of one row of cells of src
  float scale; ///< sums are formed in units of this power of two, so that no weight leaves FP16
  float lambda[3][Tile::n];     ///< c_d lambda
  float of_diagonal;            ///< what D u is multiplied by in the sums of the residual: -1
  float alpha, u_factor, theta; ///< chebyshev: alpha; 1 + theta - alpha; theta
  /// Is zero: pipeline::zero_after(). Not read with the numbers before it.
  alignas(8) std::uint32_t zero;
  signed char y_modes[16 * Tile::y_blocks]; ///< LineBlocks::mode
};

namespace mma_layers
{
  using march::place, march::Place;

  template <typename Tile>
  struct Shared : march::BlockMemory<Tile>
  {
    using typename march::BlockMemory<Tile>::Barrier;
    using march::BlockMemory<Tile>::base, march::BlockMemory<Tile>::barrier;

    // Bytes from the base.
    static __device__ int own_at(int slot) { return slot * Tile::own_bytes; }
    static __device__ int halo_at(int slot) { return Tile::halo_offset + slot * Tile::halo_bytes; }
    static __device__ int input_at(int slot, int part)
    {
      return Tile::input_offset + slot * Tile::input_bytes + part * Tile::own_bytes;
    }
    __device__ unsigned char *own(int slot) const { return base + own_at(slot); }
    __device__ unsigned char *halo(int slot) const { return base + halo_at(slot); }
    /// part 0: b and the result, 1: old
    __device__ unsigned char *input(int slot, int part) const
    {
      return base + input_at(slot, part);
    }
    // Each slot has a barrier that says empty and, but for planes of the tile, one that says full; one of the input ring a
    // third one, which says that the result is there. Planes of the tile are waited for by layers, two barriers in turn.
    static constexpr int empty = 2, halos = empty + Tile::ring,
                         inputs = halos + 2 * Tile::halo_ring;
    /// All planes of a layer are there.
    __device__ Barrier *layer_full(unsigned layer) const { return barrier(layer % 2); }
    static __device__ unsigned layer_parity(unsigned layer) { return layer / 2 % 2; }
    __device__ Barrier *own_empty(int slot) const { return barrier(empty + slot); }
    __device__ Barrier *halo_full(int slot) const { return barrier(halos + 2 * slot); }
    __device__ Barrier *halo_empty(int slot) const { return barrier(halos + 2 * slot + 1); }
    __device__ Barrier *input_full(int slot) const { return barrier(inputs + 2 * slot); }
    __device__ Barrier *input_empty(int slot) const { return barrier(inputs + 2 * slot + 1); }
    __device__ Barrier *result(int slot) const
    {
      return barrier(inputs + 2 * Tile::input_ring + slot);
    }
    /// The warps of a strip have put traces of a plane there.
    __device__ Barrier *mailed(int strip, int slot) const
    {
      return barrier(inputs + 3 * Tile::input_ring + 2 * strip + slot);
    }
    /// All warps hold the weights that mail takes the place of.
    __device__ Barrier *held() const
    {
      return barrier(inputs + 3 * Tile::input_ring + 2 * Tile::strips);
    }
    /// Where a lane finds or puts its traces of a tile's lines on one side (0: below, 1: above).
    __device__ unsigned char *mail(int strip, int slot, int side, int lines) const
    {
      const int at = ((slot * 2 + side) * Tile::line_tiles + lines) * 32 + int(threadIdx.x) % 32;
      return base + Tile::mail_offset + strip * Tile::mail_bytes + at * Tile::trace_bytes;
    }
  };

  template <typename Tile>
  __device__ void initialise(const Shared<Tile> &shared)
  {
    constexpr unsigned all = pipeline::warp_arrivals * Tile::warps;
    for (unsigned layer = 0; layer < 2; ++layer)
      pipeline::init(shared.layer_full(layer), 1);
    for (int slot = 0; slot < Tile::ring; ++slot)
      pipeline::init(shared.own_empty(slot), all);
    for (int slot = 0; slot < Tile::halo_ring; ++slot)
    {
      pipeline::init(shared.halo_full(slot), 1);
      pipeline::init(shared.halo_empty(slot), all);
    }
    for (int slot = 0; slot < Tile::input_ring; ++slot)
    {
      pipeline::init(shared.input_full(slot), 1);
      pipeline::init(shared.input_empty(slot), 1);
      pipeline::init(shared.result(slot), all);
    }
    if constexpr (Tile::mail_replaces_weights)
      pipeline::init(shared.held(), all);
    if constexpr (Tile::shares_y)
      for (int at = 0; at < 2 * Tile::strips; ++at)
        pipeline::init(shared.mailed(at / 2, at % 2), pipeline::warp_arrivals * Tile::split);
    pipeline::fence_init();
  }

  /// Copies the planes of the tile (and those of the layers before and after the segment).
  template <typename Tile>
  __device__ void produce_own(const MmaLayersParameters<Tile> &p, const Shared<Tile> &shared)
  {
    pipeline::RingPosition<Tile::ring> at;
    InStep step(p.progress, Tile::steps * p.longest);
    Place s;
    unsigned layer = 0;
    for (int index = 0; place(p, index, s); ++index)
      for (int c = s.z0 - s.before; c < s.z1 + s.after; ++c, ++layer)
      {
        pipeline::Barrier *full = shared.layer_full(layer);
        // The layer before the one before may still be on its way, if nobody has waited for it.
        pipeline::wait(full, Shared<Tile>::layer_parity(layer) ^ 1u);
        for (int k = 0; k < Tile::n; ++k)
        {
          if (c >= s.z0 && c < s.z1 && Tile::begins_step(k))
            step.begin_step();
          pipeline::wait(shared.own_empty(at.slot), at.parity ^ 1u);
          if (k == 0)
            pipeline::arrive_expect(full, Tile::n * Tile::own_box);
          pipeline::load_box_kept(
              shared.own(at.slot), &p.own, full, s.x0, 0, s.y0 * Tile::n, c * Tile::n + k);
          at.advance();
        }
      }
    step.end();
  }

  /// Copies the cells around the tile.
  template <typename Tile>
  __device__ void produce_halo(const MmaLayersParameters<Tile> &p, const Shared<Tile> &shared)
  {
    pipeline::RingPosition<Tile::halo_ring> at;
    Place s;
    for (int index = 0; place(p, index, s); ++index)
      for (int plane = s.z0 * Tile::n; plane < s.z1 * Tile::n; ++plane)
      {
        const int y = s.y0 * Tile::n, above = y + (s.last_y + 1) * Tile::n;
        pipeline::Barrier *full = shared.halo_full(at.slot);
        unsigned char *to = shared.halo(at.slot);
        pipeline::wait(shared.halo_empty(at.slot), at.parity ^ 1u);
        pipeline::arrive_expect(full, 2 * Tile::row_box + 2 * Tile::side_box);
        pipeline::load_box_kept(to, &p.row_beside, full, s.x0, 0, y - Tile::n, plane);
        pipeline::load_box_kept(to + Tile::upper_at, &p.row_beside, full, s.x0, 0, above, plane);
        pipeline::load_box_kept(to + Tile::left_at, &p.side, full, s.left, 0, y, plane);
        pipeline::load_box_kept(to + Tile::right_at, &p.side, full, s.right, 0, y, plane);
        at.advance();
      }
  }

  /// Copies results to memory: rows of the whole tile, where the warps themselves would write 32 bytes at a time.
  template <typename Tile>
  __device__ void store_results(const MmaLayersParameters<Tile> &p, const Shared<Tile> &shared)
  {
    pipeline::RingPosition<Tile::input_ring> at;
    Place s;
    for (int index = 0; place(p, index, s); ++index)
      for (int plane = s.z0 * Tile::n; plane < s.z1 * Tile::n; ++plane)
      {
        pipeline::wait_to_copy(shared.result(at.slot), at.parity);
        pipeline::store_box(&p.result, shared.input(at.slot, 0), s.x0, 0, s.y0 * Tile::n, plane);
        pipeline::wait_stores_read();
        pipeline::arrive(shared.input_empty(at.slot));
        at.advance();
      }
  }
} // namespace mma_layers
} // namespace tensormg::laplace
