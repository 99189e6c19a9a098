// The warp that sums the lines beside a row in x, in the kernel that works on a layer in rounds: see rounds.cuh.
#pragma once

#include "kernels/laplace/rounds/rounds.cuh"

namespace tensormg::laplace::rounds
{
/// A warp that sums the lines beside the row in x, a round ahead.
template <typename Tile>
class Edges
{
  using C = typename Tile::C;
  using Number = typename Tile::Number;
  static constexpr int n = Tile::n;
  const Parameters<Tile> &p;
  const Shared<Tile> &shared;
  const int lane = threadIdx.x % 32;
  OwnPosition<Tile> own;
  HaloPosition<Tile> halo;
  pipeline::RingPosition<2> edges;
  unsigned faces = 0, summed_z = 0;

public:
  __device__ Edges(const Parameters<Tile> &p_, const Shared<Tile> &shared_)
    : p(p_)
    , shared(shared_)
  {}
  __device__ void run()
  {
    Place s;
    for (int index = 0; own_place(p, shared.worker(), index, s); ++index)
    {
      skip(s.before);
      for (int c = s.z0; c < s.z1; ++c)
        for (int round = 0; round < Tile::rounds; ++round)
        {
          // At closed sides it sums lines of the tile, which others have seen to be there. It does not look at barriers of the ring,
          // since nobody waits for it before slots are filled again.
          if (round == 0)
          {
            if (s.left_closed || s.right_closed)
              pipeline::wait(shared.summed_z(), summed_z);
            summed_z ^= 1u;
          }
          pipeline::wait(shared.halo_full(halo.slot), halo.parity);
#pragma unroll 1
          for (int line = lane; line < 2 * Tile::lines; line += 32)
            sum(s, line >= Tile::lines, line % Tile::lines);
          pipeline::arrive_to_overwrite(shared.halo_empty(halo.slot));
          pipeline::arrive(shared.faces());
          // When all have written faces they have read what lay beside the round before the last.
          pipeline::wait(shared.faces(), faces);
          faces ^= 1u;
          own.advance();
          halo.advance();
          edges.advance();
        }
      skip(s.after);
    }
  }

private:
  __device__ void skip(bool layer)
  {
    if (layer)
      for (int round = 0; round < Tile::rounds; ++round)
        own.advance();
  }
  /// Line j of plane m: line = m n + j.
  __device__ __forceinline__ void sum(const Place &s, bool right, int line) const
  {
    const int m = line / n, j = line % n;
    const bool closed = right ? s.right_closed : s.left_closed;
    const Number *from = closed
        ? shared.own(own.slot, m) + j * n * Tile::cells_x + (right ? s.last_x : 0)
        : shared.beside(halo.slot, m, right) + j * n * Tile::halo_x + (right ? 0 : s.left_cell);
    write_pack(shared.edges(edges.slot) + (right ? Tile::edge_numbers / 2 : 0) + 2 * line,
        march::sum_beside<Tile>(p, from, right, closed));
  }
};
} // namespace tensormg::laplace::rounds
