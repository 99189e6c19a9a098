// The `cuda` backend in 3D, B u for degrees 3 and more, b - B u for 4 and more: two layers of cells in shared memory,
// docs/kernels.md.
//
// A block owns a tile of cells in x-y and marches through the layers. One thread copies whole layers, one the cells
// around the tile plane by plane.
//   x and y   A group of warps takes a plane: a lane sums the lines in y of the rows below and above its cell, then, line
//             by line, its own ones in x, and writes the sum of all but z over u (WideFloat: beside it, in FP64).
//   z         When all planes of the layer are there, warps take lines in z: traces of the layer above (whose u is
//             in shared memory), those of the layers before in registers; faces are added in place.
//   out       The copy engine writes the layer to memory and reads the one after the next into its place.
// With clusters of two blocks the row beyond the tile on one side is read from the other block's shared memory: that block
// tells when its layer is there, and overwrites a plane when both have read it.
// Nobody holds B u, and the engine has as long as x and y of a layer take.
#pragma once

#include "kernels/core/cluster.cuh"
#include "kernels/laplace/cuda_column.cuh"
#include "kernels/laplace/cuda_layers_tile.h"

namespace tensormg::laplace
{
template <typename Tile>
struct LayersParameters : TileParameters<Tile>
{
  using C = typename Tile::C;
  CUtensorMap row_beside;             ///< boxes of one row of cells of src
  C lambda[3][Tile::n];               ///< c_d lambda; negative in the residual
  const typename Tile::Number *input; ///< b, for lanes
  const std::uint8_t *l2_halves;      ///< of take_worker()
};

namespace layers
{
  using column::Place;

  /// The index-th segment of this block. The blocks of a cluster have rows of the same one.
  template <typename Tile>
  __device__ bool own_place(const TileParameters<Tile> &p, int worker, int index, Place &at)
  {
    if (!column::place(p, worker, index, at))
      return false;
    if constexpr (Tile::cluster > 1)
    {
      const int ny = p.block.cells[1];
      at.y0 += cluster::rank<Tile::cluster>() * Tile::rows;
      at.last_y = min(Tile::rows, ny - at.y0) - 1;
      at.lower_end = at.y0 == 0;
      at.upper_end = at.y0 + Tile::rows >= ny;
    }
    return true;
  }

  template <typename Tile>
  struct Shared
  {
    using Number = typename Tile::Number;
    using C = typename Tile::C;
    using Barrier = pipeline::Barrier;
    unsigned char *base;

    /// Plane k of the layer with that number in the order of copies.
    __device__ Number *own(int layer, int k) const
    {
      return reinterpret_cast<Number *>(base + (layer % 2 * Tile::n + k) * Tile::own_bytes);
    }
    /// The sums of x and y of that plane.
    __device__ C *sum(int layer, int k) const
    {
      if constexpr (Tile::in_place)
        return own(layer, k);
      else
        return reinterpret_cast<C *>(base + Tile::sum_offset + k * Tile::sum_bytes);
    }
    /// `at`: 0, upper_at, left_at, right_at
    __device__ Number *halo(int slot, int at) const
    {
      return reinterpret_cast<Number *>(base + Tile::halo_offset + slot * Tile::halo_bytes + at);
    }
    __device__ C *edges(int warp) const
    {
      return reinterpret_cast<C *>(base + Tile::edge_offset) + warp * Tile::edge_numbers;
    }
    /// Where a warp keeps its segment, so that it takes no registers.
    __device__ Place &place(int warp) const
    {
      static_assert(sizeof(Place) <= Tile::place_bytes);
      return *reinterpret_cast<Place *>(base + Tile::place_offset + warp * Tile::place_bytes);
    }
    /// The number of this block in the schedule, or of its cluster: take_worker().
    __device__ int &worker() const { return *reinterpret_cast<int *>(base + Tile::worker_offset); }
    __device__ Barrier *barrier(int index) const
    {
      return reinterpret_cast<Barrier *>(base + Tile::barrier_offset) + index;
    }
    /// The layer has been copied; everybody has worked on it and has read the one after it.
    __device__ Barrier *full(int layer) const { return barrier(layer % 2); }
    __device__ Barrier *done(int layer) const { return barrier(2 + layer % 2); }
    static __device__ unsigned parity(int layer) { return layer / 2 % 2; }
    /// All warps meet, and those of a group.
    __device__ Barrier *met() const { return barrier(4); }
    /// What lies around plane k of a layer is there; groups may wait for several planes that have the same slot, one
    /// after the other, which a barrier of the slot could not tell apart.
    __device__ Barrier *halo_full(int k) const { return barrier(5 + k); }
    __device__ Barrier *halo_empty(int slot) const { return barrier(5 + Tile::n + slot); }
    __device__ Barrier *group(int group) const
    {
      return barrier(5 + Tile::n + Tile::halo_ring + group);
    }
    /// The block beside has the layer with that number among its own.
    __device__ Barrier *beside_full(int own_layer) const
    {
      return barrier(5 + Tile::n + Tile::halo_ring + Tile::groups + own_layer % 2);
    }
  };

  template <typename Tile>
  __device__ void initialise(const Shared<Tile> &shared)
  {
    constexpr unsigned of_group = pipeline::warp_arrivals * Tile::group_warps;
    constexpr unsigned all = pipeline::warp_arrivals * Tile::warps;
    for (int layer = 0; layer < 2; ++layer)
    {
      pipeline::init(shared.full(layer), 1);
      pipeline::init(shared.done(layer), all + (Tile::cluster > 1 ? 1 : 0));
    }
    pipeline::init(shared.met(), all);
    for (int k = 0; k < Tile::n; ++k)
      pipeline::init(shared.halo_full(k), 1);
    for (int slot = 0; slot < Tile::halo_ring; ++slot)
      pipeline::init(shared.halo_empty(slot), of_group);
    for (int group = 0; group < Tile::groups; ++group)
      pipeline::init(shared.group(group), of_group + (Tile::cluster > 1 ? Tile::group_warps : 0));
    for (int layer = 0; layer < 2; ++layer)
      pipeline::init(shared.beside_full(layer), 1);
    pipeline::fence_init();
  }

  /// The layers of all segments of this block in the order of copies: those of the segment, one before and one after
  /// it where there are such.
  template <typename Tile>
  class Layers
  {
    const LayersParameters<Tile> &p_;
    const int worker_;
    int index_ = 0;

  public:
    Place s;
    int c;
    bool more;

    __device__ explicit Layers(const LayersParameters<Tile> &p, int worker)
      : p_(p)
      , worker_(worker)
    {
      more = own_place(p_, worker_, 0, s);
      c = s.z0 - s.before;
    }
    __device__ bool is_own() const { return c >= s.z0 && c < s.z1; }
    __device__ void advance()
    {
      if (++c < s.z1 + s.after)
        return;
      more = own_place(p_, worker_, ++index_, s);
      c = s.z0 - s.before;
    }
  };

  /// Writes plane after plane of a layer that is done, and reads the layer after the next to its place.
  template <typename Tile, int k = 0>
  __device__ void replace(const LayersParameters<Tile> &p, const Shared<Tile> &shared,
      const Layers<Tile> &next, int layer)
  {
    if constexpr (k < Tile::n)
    {
      pipeline::wait_stores_read<Tile::n - 1 - k>();
      if (next.more)
        pipeline::load_box(shared.own(layer, k), &p.own, shared.full(layer), next.s.x0, 0,
            next.s.y0 * Tile::n, next.c * Tile::n + k);
      replace<Tile, k + 1>(p, shared, next, layer);
    }
  }

  template <typename Tile>
  __device__ void copy_layers(const LayersParameters<Tile> &p, const Shared<Tile> &shared)
  {
    InStep step(p.progress, p.longest);
    Layers<Tile> in(p, shared.worker()), out(p, shared.worker());
    for (int layer = 0; in.more || out.more; ++layer)
    {
      if (layer >= 2)
      {
        pipeline::wait(shared.done(layer), Shared<Tile>::parity(layer - 2));
        if (out.is_own())
          for (int k = 0; k < Tile::n; ++k)
            pipeline::store_box(&p.result, shared.own(layer, k), out.s.x0, 0, out.s.y0 * Tile::n,
                out.c * Tile::n + k);
        out.advance();
      }
      if (in.more)
      {
        if (in.is_own())
          step.begin_layer();
        pipeline::arrive_expect(shared.full(layer), Tile::n * Tile::own_box);
      }
      replace(p, shared, in, layer);
      if (in.more)
        in.advance();
    }
    step.end();
  }

  /// Copies the cells around the tile.
  template <typename Tile>
  __device__ void copy_halo(const LayersParameters<Tile> &p, const Shared<Tile> &shared)
  {
    pipeline::RingPosition<Tile::halo_ring> at;
    const bool is_first = cluster::rank<Tile::cluster>() == 0;
    Place s;
    for (int index = 0; own_place(p, shared.worker(), index, s); ++index)
      for (int c = s.z0; c < s.z1; ++c)
        for (int k = 0; k < Tile::n; ++k)
        {
          const int y = s.y0 * Tile::n, above = y + (s.last_y + 1) * Tile::n;
          const int plane = c * Tile::n + k;
          pipeline::Barrier *full = shared.halo_full(k);
          pipeline::wait(shared.halo_empty(at.slot), at.parity ^ 1u);
          pipeline::arrive_expect(full, Tile::halo_box);
          const auto to = [&](int offset) { return shared.halo(at.slot, offset); };
          if (Tile::cluster == 1 || is_first)
            pipeline::load_box(to(0), &p.row_beside, full, s.x0, 0, y - Tile::n, plane);
          if (Tile::cluster == 1 || !is_first)
            pipeline::load_box(to(Tile::upper_at), &p.row_beside, full, s.x0, 0, above, plane);
          pipeline::load_box(to(Tile::left_at), &p.side, full, s.left, 0, y, plane);
          pipeline::load_box(to(Tile::right_at), &p.side, full, s.right, 0, y, plane);
          at.advance();
        }
  }

  /// Tells the block beside which layers it may read.
  template <typename Tile>
  __device__ void tell_beside(const LayersParameters<Tile> &p, const Shared<Tile> &shared)
  {
    int layer = 0, own = 0;
    for (Layers<Tile> in(p, shared.worker()); in.more; in.advance(), ++layer)
    {
      pipeline::wait(shared.full(layer), Shared<Tile>::parity(layer));
      if (in.is_own())
        cluster::arrive_at<Tile::cluster>(
            shared.beside_full(own++), 1 - cluster::rank<Tile::cluster>());
      // Otherwise the layer after the next could be there before this thread has seen this one.
      pipeline::arrive(shared.done(layer));
    }
  }
} // namespace layers
} // namespace tensormg::laplace
