// Faces in y of a plane where the blocks of a cluster send each other traces, in the layer kernel on CUDA cores: see
// layers.cuh.
#pragma once

#include "kernels/laplace/layers/planes.cuh"

namespace tensormg::laplace::layers
{
/// A warp has plane k of one row of cells. It sums its lines in y, once, and sends the traces to the warp that has the
/// row beside in the other block; on the other side it sums the row around the tile. Halves of the warp share the lines:
/// i = half, half + 2, ...
template <typename Tile>
class MailWork : public PlaneWork<Tile>
{
public:
  using Work = PlaneWork<Tile>;
  using typename Work::Beside;
  using typename Work::C;
  using typename Work::HalfFaces;
  using typename Work::Number;
  using typename Work::Plane;
  using typename Work::Trace;
  using typename Work::V;
  using Work::beside_y, Work::behind, Work::ghost, Work::load;
  using Work::cell, Work::half, Work::lane, Work::p, Work::s, Work::shared;
  using Work::n, Work::width, Work::mode_x, Work::mode_y;
  using Work::Work;

  /// What the faces in y give, as PlaneWork::sum_y(). `parity`: of the phases of this layer.
  __device__ __forceinline__ void exchange_y(
      HalfFaces (&faces)[n], const Plane &plane, int k, unsigned parity) const
  {
    cluster::wait_for_letters(shared.mail_empty(k), parity ^ 1u);
    send(plane, k);
    pipeline::wait(shared.halo_full(k), parity);
    Trace around[half_lines];
    sum_around(around, plane);
    this->sum_edges(plane);
    pipeline::arrive_to_overwrite(shared.halo_empty(plane.slot));
    // Letters may be there already: without this arrival the phase does not end.
    if (lane == 0)
      pipeline::arrive_expect(shared.mail_full(k), Tile::mail_bytes);
    cluster::wait_for_letters(shared.mail_full(k), parity);
    if (is_first() && s.upper_end)
      reflect(plane, k);
    couple_y(faces, around, k);
  }

  /// The mail for plane k has been read, and what was read has been used: the arrival does not order reads.
  __device__ __forceinline__ void has_read_mail(int k) const
  {
    __syncwarp();
    if (lane == 0)
      cluster::arrive_at<Tile::cluster>(shared.mail_empty(k), 1 - cluster::rank<Tile::cluster>());
  }

private:
  static_assert(n % 2 == 0);
  static constexpr int half_lines = n / 2;

  /// Traces of a line i in y of the cells of a lane.
  struct alignas(16) Letter
  {
    V v, d;
  };

  /// The row of the first block is below that of the second.
  __device__ __forceinline__ bool is_first() const { return cluster::rank<Tile::cluster>() == 0; }
  __device__ __forceinline__ Letter *letter(int k, int i) const
  {
    return shared.template mail<Letter>(k) + 16 * i + lane % 16;
  }

  /// Line 2 pair + half in y of the cells of a lane at `row`.
  __device__ __forceinline__ LineSums<V> sum_line(const Number *row, int pair) const
  {
    const Number *from = row + (2 * pair + half) * mode_x;
    LineSums<V> sums;
#pragma unroll
    for (int j = 0; j < n; ++j)
      sums.add(j, p.v[j], p.h[j], load(from + j * mode_y));
    return sums;
  }

  __device__ __forceinline__ void send(const Plane &plane, int k) const
  {
    const C sign = is_first() ? C(1) : C(-1); // the upper or the lower ends of lines
#pragma unroll
    for (int pair = 0; pair < half_lines; ++pair)
    {
      const LineSums<V> sums = sum_line(plane.own + cell, pair);
      Letter traces;
#pragma unroll
      for (int w = 0; w < width; ++w)
      {
        traces.v.at[w] = fma(sign, sums.ov.at[w], sums.ev.at[w]);
        traces.d.at[w] = fma(sign, sums.ed.at[w], sums.od.at[w]);
      }
      cluster::send<Tile::cluster>(letter(k, 2 * pair + half), traces, shared.mail_full(k),
          1 - cluster::rank<Tile::cluster>());
    }
  }

  /// The second block lies beyond the end: what is behind it takes the place of its letters.
  __device__ __forceinline__ void reflect(const Plane &plane, int k) const
  {
#pragma unroll 1
    for (int pair = 0; pair < half_lines; ++pair)
    {
      const int i = 2 * pair + half;
      const Trace trace = p.sides[3] == Side::ghost
          ? ghost(3, p.block.planes(), plane.index, i)
          : behind(3, sum_line(plane.own + cell, pair).upper());
      *letter(k, i) = {trace.v, trace.d};
    }
    __syncwarp();
  }

  /// The row of cells around the tile.
  __device__ __forceinline__ void sum_around(Trace (&around)[half_lines], const Plane &plane) const
  {
    const bool upper = !is_first();
    const Beside beside = beside_y(upper, plane);
    const C odd_v = upper ? -beside.odd : beside.odd, even_d = upper ? -beside.even : beside.even;
#pragma unroll
    for (int pair = 0; pair < half_lines; ++pair)
    {
      const LineSums<V> sums = sum_line(beside.row, pair);
      around[pair] = {beside.even * sums.ev, even_d * sums.ed};
      add_product(around[pair].v, odd_v, sums.ov);
      add_product(around[pair].d, beside.odd, sums.od);
    }
    if (beside.ghost)
#pragma unroll
      for (int pair = 0; pair < half_lines; ++pair)
        around[pair] = ghost(upper ? 3 : 2, p.block.planes(), plane.index, 2 * pair + half);
  }

  /// Both sides for the modes j = half, half + 2, ...: HalfFaces of lower traces m and upper ones p are
  /// even: v = D_m - D_p, g = V_p + V_m; odd: v = -D_m - D_p, g = V_p - V_m.
  __device__ __forceinline__ void couple_y(
      HalfFaces (&faces)[n], const Trace (&around)[half_lines], int k) const
  {
    const bool even = half == 0,
               first = is_first(); // the first block has m around its tile, the second p
    const C around_d = even && first ? C(1) : C(-1), mail_d = even && !first ? C(1) : C(-1);
    const C around_v = !even && first ? C(-1) : C(1), mail_v = !even && !first ? C(-1) : C(1);
#pragma unroll
    for (int i = 0; i < n; ++i)
    {
      const Letter mail = *letter(k, i);
      const int from = lane % 16 + i % 2 * 16;
#pragma unroll
      for (int w = 0; w < width; ++w)
      {
        const C v = __shfl_sync(~0u, around[i / 2].v.at[w], from);
        const C d = __shfl_sync(~0u, around[i / 2].d.at[w], from);
        faces[i].v.at[w] = fma(around_d, d, mail_d * mail.d.at[w]);
        faces[i].g.at[w] = fma(around_v, v, mail_v * mail.v.at[w]);
      }
    }
  }
};
} // namespace tensormg::laplace::layers
