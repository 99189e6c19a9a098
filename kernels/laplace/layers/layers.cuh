// The `cuda` backend in 3D, degrees 3 and more (FP32 and FP16: b - B u and Chebyshev steps from 4 on): two layers of cells in
// shared memory, docs/kernels.md.
//
// A block owns a tile of cells in x-y and marches through the layers. One thread copies planes of the tile, or one reads and
// another one writes them (`writes_apart`), one copies those of the cells around it.
//   x and y   A group of warps takes a plane: a lane sums the lines in y of the rows below and above its cell, then, line
//             by line, its own ones in x, and writes the sum of all but z over u (WideFloat: beside it, in FP64).
//   z         Warps take lines in z: traces of the layer above, plane by plane as it comes, those of the layers before in
//             registers; when all have done x and y, faces are added in place, plane by plane.
//   out       The copy engine writes planes to memory and reads those of the layer after the next into their place.
// With clusters of two blocks the row beyond the tile on one side is one of the other block: that block sends its traces
// (mail.cuh).
// Nobody holds B u, and the engine has as long as x and y of a layer take.
#pragma once

#include "kernels/laplace/layers/tile.h"
#include "kernels/laplace/march/row_work.cuh"

namespace tensormg::laplace
{
namespace layers
{
  using march::Layers, march::own_place, march::Place;

  template <typename Tile>
  struct Shared : march::BlockMemory<Tile>
  {
    using Number = typename Tile::Number;
    using C = typename Tile::C;
    using typename march::BlockMemory<Tile>::Barrier;
    using march::BlockMemory<Tile>::base, march::BlockMemory<Tile>::barrier;
    static constexpr int first_done = Tile::layers * Tile::steps_in;
    static constexpr int met_at = first_done + Tile::layers * Tile::steps_out;
    static constexpr int first_halo = met_at + 1;
    static constexpr int first_group = first_halo + Tile::n + Tile::halo_ring;
    static constexpr int first_written = first_group + (Tile::by_mail ? 2 * Tile::n : Tile::groups);
    static_assert(first_written + (Tile::writes_apart ? Tile::layers * Tile::steps_out : 0) ==
        Tile::barriers);
    /// Plane k of the layer with that number in the order of copies.
    __device__ Number *own(int layer, int k) const
    {
      return reinterpret_cast<Number *>(base + Tile::slot(layer, k) * Tile::own_bytes);
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
    /// Plane k of the layer, and those waited for with it, have been copied; everybody has worked on it, and those written
    /// with it, and has read the layer after it.
    __device__ Barrier *full(int layer, int k) const
    {
      return barrier(layer % Tile::layers * Tile::steps_in + k / Tile::planes_in);
    }
    __device__ Barrier *done(int layer, int k) const
    {
      return barrier(first_done + layer % Tile::layers * Tile::steps_out + k / Tile::planes_out);
    }
    /// writes_apart: planes have been written, or need not be: others may take their place.
    __device__ Barrier *written(int layer, int k) const
    {
      return barrier(first_written + layer % Tile::layers * Tile::steps_out + k / Tile::planes_out);
    }
    static __device__ unsigned parity(int layer) { return layer / Tile::layers % 2; }
    /// All warps meet.
    __device__ Barrier *met() const { return barrier(met_at); }
    /// What lies around plane k of a layer is there; groups may wait for several planes that have the same slot, one
    /// after the other, which a barrier of the slot could not tell apart.
    __device__ Barrier *halo_full(int k) const { return barrier(first_halo + k); }
    __device__ Barrier *halo_empty(int slot) const { return barrier(first_halo + Tile::n + slot); }
    /// Those who work on rows beside each other meet; nobody does by mail.
    __device__ Barrier *group(int group) const { return barrier(first_group + group); }
    /// Mail for plane k of this block has come; what this block has sent for plane k of the other one has been read there.
    __device__ Barrier *mail_full(int k) const { return barrier(first_group + k); }
    __device__ Barrier *mail_empty(int k) const { return barrier(first_group + Tile::n + k); }
    template <typename Letter>
    __device__ Letter *mail(int k) const
    {
      static_assert(sizeof(Letter) == Tile::letter_bytes);
      return reinterpret_cast<Letter *>(base + Tile::mail_offset + k * Tile::mail_bytes);
    }
  };

  template <typename Tile>
  __device__ void initialise(const Shared<Tile> &shared)
  {
    constexpr unsigned of_group = pipeline::warp_arrivals * Tile::group_warps;
    constexpr unsigned all = pipeline::warp_arrivals * Tile::warps;
    for (int layer = 0; layer < Tile::layers; ++layer)
    {
      for (int k = 0; k < Tile::n; k += Tile::planes_in)
        pipeline::init(shared.full(layer, k), 1);
      for (int k = 0; k < Tile::n; k += Tile::planes_out)
      {
        pipeline::init(shared.done(layer, k), all);
        if constexpr (Tile::writes_apart)
          pipeline::init(shared.written(layer, k), 1);
      }
    }
    pipeline::init(shared.met(), all);
    for (int k = 0; k < Tile::n; ++k)
      pipeline::init(shared.halo_full(k), 1);
    for (int slot = 0; slot < Tile::halo_ring; ++slot)
      pipeline::init(shared.halo_empty(slot), of_group);
    if constexpr (Tile::by_mail)
      for (int k = 0; k < Tile::n; ++k)
      {
        pipeline::init(shared.mail_full(k), 1);
        pipeline::init(shared.mail_empty(k), 1);
      }
    else
      for (int group = 0; group < Tile::groups; ++group)
        pipeline::init(shared.group(group), of_group);
    pipeline::fence_init();
  }

  template <typename Tile>
  __device__ void read_plane(const RowParameters<Tile> &p, const Shared<Tile> &shared,
      const Layers<Tile> &in, int layer, int k)
  {
    constexpr int n = Tile::n;
    pipeline::Barrier *full = shared.full(layer, k);
    if (k % Tile::planes_in == 0)
      pipeline::arrive_expect(full, min(Tile::planes_in, n - k) * Tile::own_box);
    if (k % Tile::read_box == 0)
      pipeline::load_box_kept(
          shared.own(layer, k), &p.own, full, in.s.x0, 0, in.s.y0 * n, in.c * n + k);
  }
  /// Planes first, first + 1, ... of a layer, those that take the place of others at a time.
  template <typename Tile>
  __device__ void read_planes(const RowParameters<Tile> &p, const Shared<Tile> &shared,
      const Layers<Tile> &in, int layer, int first)
  {
    for (int k = first; k < min(first + Tile::planes_out, Tile::n); ++k)
      read_plane(p, shared, in, layer, k);
  }

  /// writes_apart: reads planes to the place of earlier ones, when these have been written.
  template <typename Tile>
  __device__ void read_layers(const RowParameters<Tile> &p, const Shared<Tile> &shared)
  {
    constexpr int n = Tile::n;
    InStep in_step(p.progress, p.longest);
    int layer = 0;
    for (Layers<Tile> in(p, shared.worker()); in.more; in.advance(), ++layer)
      for (int k = 0; k < n; ++k)
      {
        const int replaced = layer * n + k - Tile::own_ring, of = replaced / n;
        if (replaced >= 0)
          pipeline::wait(shared.written(of, replaced % n), Shared<Tile>::parity(of));
        if (k == 0 && in.is_own())
          in_step.begin_step();
        read_plane(p, shared, in, layer, k);
      }
    in_step.end();
  }

  /// writes_apart: writes planes when they are done.
  template <typename Tile>
  __device__ void write_layers(const RowParameters<Tile> &p, const Shared<Tile> &shared)
  {
    constexpr int n = Tile::n;
    int layer = 0;
    for (Layers<Tile> out(p, shared.worker()); out.more; out.advance(), ++layer)
      for (int first = 0; first < n; first += Tile::planes_out)
      {
        pipeline::wait(shared.done(layer, first), Shared<Tile>::parity(layer));
        if (out.is_own())
          for (int k = first; k < min(first + Tile::planes_out, n); ++k)
            pipeline::store_box(
                &p.result, shared.own(layer, k), out.s.x0, 0, out.s.y0 * n, out.c * n + k);
        pipeline::wait_stores_read<0>();
        pipeline::arrive(shared.written(layer, first));
      }
  }

  /// Otherwise: writes planes when they are done, and reads those of the layer after the next to their place.
  template <typename Tile>
  __device__ void copy_layers(const RowParameters<Tile> &p, const Shared<Tile> &shared)
  {
    constexpr int n = Tile::n, step = Tile::planes_out;
    InStep in_step(p.progress, p.longest);
    Layers<Tile> in(p, shared.worker()), out(p, shared.worker());
    for (int layer = 0; in.more || out.more; ++layer)
    {
      const bool replaces = layer >= 2, writes = replaces && out.is_own();
      for (int first = 0; first < n; first += step)
      {
        if (replaces)
          pipeline::wait(shared.done(layer, first), Shared<Tile>::parity(layer - 2));
        if (writes)
          for (int k = first; k < min(first + step, n); k += Tile::write_box)
            pipeline::store_box(
                &p.result, shared.own(layer, k), out.s.x0, 0, out.s.y0 * n, out.c * n + k);
        if (first == 0 && in.more && in.is_own())
          in_step.begin_step();
        if constexpr (Tile::steps_out == 1)
          in_step.look_ahead();
        if (first == 0)
          continue;
        // The planes of the step before have been read by the engine: of what was written, these may not have been. The last
        // step may have fewer planes.
        if (first + step <= n)
          pipeline::wait_stores_read<step>();
        else
          pipeline::wait_stores_read<n % step>();
        if (in.more)
          read_planes(p, shared, in, layer, first - step);
      }
      pipeline::wait_stores_read<0>();
      if (in.more)
        read_planes(p, shared, in, layer, (Tile::steps_out - 1) * step);
      if (replaces)
        out.advance();
      if (in.more)
        in.advance();
    }
    in_step.end();
  }

  /// Copies the cells around the tile.
  template <typename Tile>
  __device__ void copy_halo(const RowParameters<Tile> &p, const Shared<Tile> &shared)
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
            pipeline::load_box_kept(to(0), &p.row_beside, full, s.x0, 0, y - Tile::n, plane);
          if (Tile::cluster == 1 || !is_first)
            pipeline::load_box_kept(to(Tile::upper_at), &p.row_beside, full, s.x0, 0, above, plane);
          pipeline::load_box_kept(to(Tile::left_at), &p.side, full, s.left, 0, y, plane);
          pipeline::load_box_kept(to(Tile::right_at), &p.side, full, s.right, 0, y, plane);
          at.advance();
        }
  }
} // namespace layers
} // namespace tensormg::laplace
