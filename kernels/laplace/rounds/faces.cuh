// Faces in x and y of a round, in the kernel that works on a layer in rounds: see rounds.cuh.
#pragma once

#include "kernels/laplace/rounds/rounds.cuh"

namespace tensormg::laplace::rounds
{
/// What half a warp does in a round: a line (m, i) in y, for what the faces there give, and a line (m, j) in x (Tile::line_in_x), for
///   sum_ij = (c_x lambda_i + c_y lambda_j + c_z lambda_k) u_ij + faces in x (v_i, g_i) + faces in y (v_j, g_j),
/// CellBasis. The members are for Cells, which adds the faces in z.
template <typename Tile>
class RoundWork : public march::RowWork<Tile>
{
public:
  using Lines = march::RowWork<Tile>;
  using Lines::cell, Lines::half, Lines::lane, Lines::p, Lines::s, Lines::warp;
  using Lines::load, Lines::behind, Lines::ghost, Lines::couple;
  using Lines::n, Lines::width, Lines::mode_x, Lines::mode_y;
  using typename Lines::C;
  using typename Lines::Number;
  using typename Lines::Trace;
  using typename Lines::V;
  using Sums = march::LineSums<V>;

  const Shared<Tile> &shared;
  Trace around; ///< of a line in y of the row beyond
  // All slots and phases follow from two numbers of the round that is worked on.
  unsigned own_index = 0; ///< among all rounds of the tile, in the order of copies
  unsigned index = 0;     ///< among those that are worked on

  __device__ __forceinline__ RoundWork(
      const Parameters<Tile> &p_, const Shared<Tile> &shared_, int warp_)
    : Lines(p_, warp_, shared_.place(warp_))
    , shared(shared_)
  {}

  /// Traces (V, D) of a line i in y of the cells of a lane; afterwards what the faces in y give to it, (v, g).
  struct alignas(16) Letter
  {
    V v, d;
  };

  __device__ __forceinline__ int unit() const { return 2 * warp + half; }
  static __device__ __forceinline__ int own_slot(unsigned of_round)
  {
    return int(of_round % Tile::own_ring);
  }
  __device__ __forceinline__ void wait_own(unsigned of_round) const
  {
    pipeline::wait(shared.own_full(own_slot(of_round)), of_round / Tile::own_ring % 2);
  }
  __device__ __forceinline__ int mail_slot() const { return int(index % 2); }

  // Lines in x and y of a round: half a warp has one; those without one take the last one, in vain.
  static constexpr bool all_have_line = Tile::lines == Tile::units;
  __device__ __forceinline__ bool has_line() const { return all_have_line || unit() < Tile::lines; }
  __device__ __forceinline__ int line_of() const
  {
    return all_have_line ? unit() : min(unit(), Tile::lines - 1);
  }

  __device__ __forceinline__ Sums sum_y(const Number *from) const
  {
    Sums of;
#pragma unroll
    for (int j = 0; j < n; ++j)
      of.add(j, p.v[j], p.h[j], load(from + j * mode_y));
    return of;
  }
  /// The row of the first block is below that of the second.
  static __device__ __forceinline__ bool is_first() { return cluster::rank<Tile::cluster>() == 0; }

  /// Traces of this row to the other block, of the round that is worked on next.
  __device__ __forceinline__ void send() const
  {
    const int unit = line_of(), m = unit / n, i = unit % n;
    const Sums of = sum_y(shared.own(own_slot(own_index), m) + i * mode_x + cell);
    const C sign = is_first() ? C(1) : C(-1); // the upper or the lower ends of lines
    Letter traces;
#pragma unroll
    for (int w = 0; w < width; ++w)
    {
      traces.v.at[w] = fma(sign, of.ov.at[w], of.ev.at[w]);
      traces.d.at[w] = fma(sign, of.ed.at[w], of.od.at[w]);
    }
    if (has_line())
      cluster::send<Tile::cluster>(shared.template mail<Letter>(mail_slot(), unit) + lane % 16,
          traces, shared.mail_full(mail_slot(), warp), 1 - cluster::rank<Tile::cluster>());
  }

  /// The row beyond, of the round that is worked on next: its slot may be taken.
  __device__ __forceinline__ void sum_around()
  {
    const int unit = line_of(), m = unit / n, i = unit % n;
    const int slot = int(index % Tile::halo_ring);
    pipeline::wait(shared.halo_full(slot), index / Tile::halo_ring % 2);
    const Sums of = sum_y(shared.beyond(slot, m) + i * mode_x + cell);
    const C sign = is_first() ? C(1) : C(-1);
#pragma unroll
    for (int w = 0; w < width; ++w)
    {
      around.v.at[w] = fma(sign, of.ov.at[w], of.ev.at[w]);
      around.d.at[w] = fma(sign, of.ed.at[w], of.od.at[w]);
    }
    pipeline::arrive_to_overwrite(shared.halo_empty(slot));
  }

  /// What the faces in y of a round give: of lower traces m and upper ones p v = D_m - D_p, g = V_p + V_m to even modes,
  /// v = -D_m - D_p, g = V_p - V_m to odd ones.
  template <int round>
  __device__ __forceinline__ void combine_y(int c)
  {
    const int unit = line_of();
    const bool first = is_first();
    if (first ? s.lower_end : s.upper_end)
      around = behind_side<round>(first ? 2 : 3, c);
    // Letters may be there already: without this arrival the phase does not end.
    if (lane == 0)
      pipeline::arrive_expect(shared.mail_full(mail_slot(), warp),
          max(0, min(2, Tile::lines - 2 * warp)) * Tile::line_mail);
    // Of block scope: cluster::send().
    pipeline::wait_bounded(shared.mail_full(mail_slot(), warp), index / 2 % 2);
    Letter *const letter = shared.template mail<Letter>(mail_slot(), unit) + lane % 16;
    Letter inner = *letter;
    if constexpr (!all_have_line)
      __syncwarp(); // those without a line have read another one's letters, in whose place something is written
    if (first && s.upper_end) // the other block lies beyond the end
    {
      const Trace trace = behind_side<round>(3, c);
      inner = {trace.v, trace.d};
    }
    // The first block has m around its tile, the second one p.
    const C sign = first ? C(1) : C(-1);
    const Letter even{sign * (around.d - inner.d), around.v + inner.v};
    const Letter odd{-(around.d + inner.d), sign * (inner.v - around.v)};
    if (has_line())
    {
      *letter = even;
      shared.template odd_faces<Letter>(unit)[lane % 16] = odd;
    }
    pipeline::arrive(shared.faces());
  }
  template <int round>
  __device__ __forceinline__ Trace behind_side(int side, int c) const
  {
    const int unit = line_of(), m = unit / n, i = unit % n;
    if (p.sides[side] == Side::ghost)
    {
      if (s.last_y < 0)
        return {V(C(0)), V(C(0))};
      return ghost(side, p.block.planes(), c * n + round * Tile::planes + m, i);
    }
    const Sums of = sum_y(shared.own(own_slot(own_index), m) + i * mode_x + cell);
    return behind(side, side == 2 ? of.lower() : of.upper());
  }

  /// The diagonal and the faces in x and y of a line in x, over u.
  template <int round>
  __device__ __forceinline__ void write_sums() const
  {
    const auto [m, j] = Tile::line_in_x(line_of());
    const int k = round * Tile::planes + m;
    Number *const line = shared.own(own_slot(own_index), m) + j * mode_y + cell;
    const Letter *const faces_y = (j % 2 == 0 ? shared.template mail<Letter>(mail_slot(), m * n)
                                              : shared.template odd_faces<Letter>(m * n)) +
        lane % 16;
    const C *const edges = shared.edges(mail_slot()) + 2 * (m * n + j);
    V u[n];
    Sums of;
#pragma unroll
    for (int i = 0; i < n; ++i)
    {
      u[i] = load(line + i * mode_x);
      of.add(i, p.v[i], p.h[i], u[i]);
    }
    const march::Faces<V> faces_x = couple(
        load_pack<2>(edges), load_pack<2>(edges + Tile::edge_numbers / 2), of.lower(), of.upper());
    if constexpr (!all_have_line)
      __syncwarp(); // those without a line have read another one's
    const C of_yz = p.lambda[2][k] + p.lambda[1][j], vd = p.vd[1][j], gd = p.gd[1][j];
#pragma unroll
    for (int i = 0; i < n; ++i)
    {
      V sum = of_yz * u[i];
      add_product(sum, p.lambda[0][i], u[i]);
      add_product(sum, p.vd[0][i], faces_x.v[i % 2]);
      add_product(sum, p.gd[0][i], faces_x.g[i % 2]);
      const Letter of_y = faces_y[16 * i];
      add_product(sum, vd, of_y.v);
      add_product(sum, gd, of_y.d);
      if (has_line())
        write_pack(line + i * mode_x, sum);
    }
  }
};
} // namespace tensormg::laplace::rounds
