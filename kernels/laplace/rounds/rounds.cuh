// The `cuda` backend in 3D, B u and b - B u where two layers leave no room in shared memory for the cells around them (p = 8):
// docs/kernels.md.
//
// A block owns a row of cells in x and marches through the layers; the blocks of a cluster have rows beside each other. A layer
// is in shared memory, the next one comes, and B u of the layer before waits in registers for what it gets from this one.
//   z        A lane takes lines in z of this layer, raw u, as the planes come. The layer before gets its faces above and is written.
//   rounds   A few planes at a time. A lane sums a line in y of its row, for the other block, and of the row on the other side; then
//            one in x, and writes the sums of x and y over u; then it reads those of its lines in z into registers. These planes are
//            replaced by the next ones.
// Everybody arrives at a barrier after each of these and waits for it one piece of work later.
#pragma once

#include "kernels/laplace/march/row_work.cuh"
#include "kernels/laplace/rounds/tile.h"

namespace tensormg::laplace::rounds
{
using march::Layers, march::own_place, march::Place;

template <typename Tile>
using Parameters = RowParameters<Tile>;
template <typename Tile>
using OwnPosition = pipeline::RingPosition<Tile::own_ring>;
template <typename Tile>
using HaloPosition = pipeline::RingPosition<Tile::halo_ring>;

template <typename Tile>
struct Shared : march::BlockMemory<Tile>
{
  using Number = typename Tile::Number;
  using C = typename Tile::C;
  using typename march::BlockMemory<Tile>::Barrier;
  using march::BlockMemory<Tile>::base, march::BlockMemory<Tile>::barrier;

  /// Plane m of a round in that slot.
  __device__ Number *own(int slot, int m) const
  {
    return reinterpret_cast<Number *>(base + (slot * Tile::planes + m) * Tile::plane_bytes);
  }
  /// The row beyond.
  __device__ Number *beyond(int slot, int m) const { return halo(slot, m * Tile::plane_bytes); }
  __device__ Number *beside(int slot, int m, bool right) const
  {
    return halo(slot, (right ? Tile::right_at : Tile::left_at) + m * Tile::side_bytes);
  }
  template <typename Letter>
  __device__ Letter *mail(int slot, int line) const
  {
    static_assert(sizeof(Letter) == Tile::letter_bytes);
    return reinterpret_cast<Letter *>(
        base + Tile::mail_offset + slot * Tile::mail_bytes + line * Tile::line_mail);
  }
  /// Traces beside lines of a round.
  __device__ C *edges(int slot) const
  {
    return reinterpret_cast<C *>(base + Tile::edge_offset) + slot * Tile::edge_numbers;
  }
  // Each slot has a barrier that says full and one that says empty.
  __device__ Barrier *own_full(int slot) const { return barrier(2 * slot); }
  __device__ Barrier *own_empty(int slot) const { return barrier(2 * slot + 1); }
  static constexpr int first_halo = 2 * Tile::own_ring;
  __device__ Barrier *halo_full(int slot) const { return barrier(first_halo + 2 * slot); }
  __device__ Barrier *halo_empty(int slot) const { return barrier(first_halo + 2 * slot + 1); }
  /// Faces of odd modes j.
  template <typename Letter>
  __device__ Letter *odd_faces(int line) const
  {
    return reinterpret_cast<Letter *>(base + Tile::faces_offset + line * Tile::line_mail);
  }
  static constexpr int others = first_halo + 2 * Tile::halo_ring;
  /// Letters of a round for the lines of a warp have come, from the same warp of the other block. Nobody says that their place may be
  /// taken: before the other block sends those of the round after the next, all of its warps have combined the letters of the
  /// next round, which each warp here sends when it has read all that these letters became (write_sums()).
  __device__ Barrier *mail_full(int slot, int warp) const
  {
    return barrier(others + 3 + slot * Tile::warps + warp);
  }
  /// All have summed their lines in z; have written what the faces in y of a round give, and what lies beside it in x; the sums
  /// of x and y.
  __device__ Barrier *summed_z() const { return barrier(others); }
  __device__ Barrier *faces() const { return barrier(others + 1); }
  __device__ Barrier *sums() const { return barrier(others + 2); }
  static_assert(others + 3 + 2 * Tile::warps == Tile::barriers);

private:
  __device__ Number *halo(int slot, int at) const
  {
    return reinterpret_cast<Number *>(base + Tile::halo_offset + slot * Tile::halo_bytes + at);
  }
};

template <typename Tile>
__device__ void initialise(const Shared<Tile> &shared)
{
  constexpr unsigned all = pipeline::warp_arrivals * Tile::warps;
  for (int slot = 0; slot < Tile::own_ring; ++slot)
  {
    pipeline::init(shared.own_full(slot), 1);
    pipeline::init(shared.own_empty(slot), all);
  }
  for (int slot = 0; slot < Tile::halo_ring; ++slot)
  {
    pipeline::init(shared.halo_full(slot), 1);
    pipeline::init(shared.halo_empty(slot), all + pipeline::warp_arrivals);
  }
  for (int warp = 0; warp < Tile::warps; ++warp)
    for (int slot = 0; slot < 2; ++slot)
      pipeline::init(shared.mail_full(slot, warp), 1);
  pipeline::init(shared.summed_z(), all);
  pipeline::init(shared.faces(), all + pipeline::warp_arrivals);
  pipeline::init(shared.sums(), all);
  pipeline::fence_init();
}

/// Copies the layers of all segments of this block and those before and after them, and the cells around its own ones: the row below
/// that of the first block or above that of the second one, and beside rows. One thread asks for both in turns, as slots are given back:
/// tile of round r, halo of r, tile of r + 1, ... Layers that are only summed in z have no halo; their tiles follow the halo of the next
/// round that is worked on.
template <typename Tile>
class Copier
{
  using Number = typename Tile::Number;
  const Parameters<Tile> &p;
  const Shared<Tile> &shared;
  InStep in_step;
  Layers<Tile> in;     ///< of the tile
  Layers<Tile> around; ///< of the halo
  OwnPosition<Tile> own;
  HaloPosition<Tile> halo;
  int round = 0; ///< of the layer that is read

public:
  __device__ Copier(const Parameters<Tile> &p_, const Shared<Tile> &shared_)
    : p(p_)
    , shared(shared_)
    , in_step(p_.progress, Tile::rounds * p_.longest)
    , in(p_, shared_.worker())
    , around(p_, shared_.worker())
  {}
  __device__ void run()
  {
    // Numbers of rounds of the tile: asked for; to be asked for before the next halo; that have their halo, or have none.
    int asked_for = 0, wanted = 1, here = 0;
    for (; around.more; around.advance())
    {
      if (!around.is_own())
      {
        here += Tile::rounds;
        continue;
      }
      for (int of_layer = 0; of_layer < Tile::rounds; ++of_layer)
      {
        for (; asked_for < wanted && in.more; ++asked_for)
          read_own();
        read_halo(of_layer);
        wanted = ++here + 1;
      }
    }
    while (in.more)
      read_own();
    in_step.end();
  }

private:
  __device__ void read_own()
  {
    pipeline::Barrier *full = shared.own_full(own.slot);
    in_step.look_ahead();
    pipeline::wait(shared.own_empty(own.slot), own.parity ^ 1u);
    if (in.is_own())
      in_step.begin_step();
    pipeline::arrive_expect(full, Tile::own_box);
    pipeline::load_box_kept(shared.own(own.slot, 0), &p.own, full, in.s.x0, 0, in.s.y0 * Tile::n,
        in.c * Tile::n + round * Tile::planes);
    own.advance();
    if (++round == Tile::rounds)
    {
      round = 0;
      in.advance();
    }
  }
  __device__ void read_halo(int of_layer)
  {
    const Place &s = around.s;
    const int plane = around.c * Tile::n + of_layer * Tile::planes;
    const int y = s.y0 * Tile::n;
    const int y_beyond = cluster::rank<Tile::cluster>() == 0 ? y - Tile::n : y + Tile::n;
    pipeline::Barrier *full = shared.halo_full(halo.slot);
    pipeline::wait(shared.halo_empty(halo.slot), halo.parity ^ 1u);
    pipeline::arrive_expect(full, Tile::halo_box);
    const auto read = [&](Number *to, const CUtensorMap &from, int x, int y_from) {
      pipeline::load_box_kept(to, &from, full, x, 0, y_from, plane);
    };
    read(shared.beyond(halo.slot, 0), p.row_beside, s.x0, y_beyond);
    read(shared.beside(halo.slot, 0, false), p.side, s.left, y);
    read(shared.beside(halo.slot, 0, true), p.side, s.right, y);
    halo.advance();
  }
};
} // namespace tensormg::laplace::rounds
