// The 2D kernel's faces in y: see strips_2d.cuh.
#pragma once

#include "kernels/device/pack.cuh"
#include "kernels/laplace/strips_2d/copies.cuh"

namespace tensormg::laplace::strip
{
/// Sums over a line: value and half derivative, even and odd modes apart (CellBasis).
template <typename V>
struct LineSums
{
  V ev, ed, ov, od;

  /// Modes in ascending order; `mode` is a constant after unrolling.
  template <typename C>
  __device__ __forceinline__ void add(int mode, C v, C h, const V &u)
  {
    V &value = mode % 2 == 0 ? ev : ov, &derivative = mode % 2 == 0 ? ed : od;
    if (mode < 2)
    {
      value = v * u;
      derivative = h * u;
    }
    else
    {
      add_product(value, v, u);
      add_product(derivative, h, u);
    }
  }
  __device__ V vl() const { return ev - ov; }
  __device__ V vr() const { return ev + ov; }
  __device__ V dl() const { return od - ed; }
  __device__ V dr() const { return od + ed; }
};

/// The traces of a lane's cells from row to row.
template <typename Tile>
class FacesY
{
  using Number = typename Tile::Number;
  using C = typename Tile::C;
  using V = Pack<C, Tile::width>;
  static constexpr int n = Tile::n, width = Tile::width;
  static constexpr int park_width = width < Tile::table_pack ? width : Tile::table_pack;

  const StripParameters<Tile> &p;
  unsigned char *const memory; ///< of this warp
  const Place<Tile> at;
  // Right traces of the rows c - 1 and c.
  V below_v[n], below_d[n], newest[Tile::parked ? 1 : 2 * n];

public:
  /// What the faces in y give to row c, for even and odd modes j: factors of v and of g.
  V even_v[n], even_g[n], odd_v[n], odd_g[n];

  __device__ __forceinline__ FacesY(
      const StripParameters<Tile> &p_, unsigned char *memory_, const Place<Tile> &at_)
    : p(p_)
    , memory(memory_)
    , at(at_)
  {}

  /// Row c + 1 has arrived (line(j): this lane's first pack of line j): closes the faces between c and c + 1.
  template <typename Line>
  __device__ __forceinline__ void sum_row(const Line &line)
  {
    const Number *lines[n];
#pragma unroll
    for (int j = 0; j < n; ++j)
      lines[j] = line(j);
#pragma unroll
    for (int i = 0; i < n; ++i)
    {
      LineSums<V> sums;
#pragma unroll
      for (int j = 0; j < n; ++j)
        sums.add(j, p.v[j], p.h[j], load_pack<width>(lines[j] + i * Tile::cells));
      add_face(i, sums.vl(), sums.dl());
      below_v[i] = here(2 * i);
      below_d[i] = here(2 * i + 1);
      set_here(2 * i, sums.vr());
      set_here(2 * i + 1, sums.dr());
    }
  }

  /// Before row 0: what lies below. Executed once, hence in little code.
  __device__ __forceinline__ void close_below(const Number *row)
  {
    const C sign = value_reflection<C>(p.sides[2]);
#pragma unroll
    for (int i = 0; i < n; ++i)
    {
      V v(C(0)), d(C(0));
      if (p.sides[2] == Side::ghost)
        load_ghost(p.ghost[0], i, v, d);
      else
#pragma unroll 1
        for (int j = 0; j < n; ++j)
        {
          const C parity = j % 2 == 0 ? sign : -sign;
          const V u = load_pack<width>(row + (j * n + i) * Tile::cells);
          add_product(v, parity * p.v[j], u);
          add_product(d, parity * p.h[j], u);
        }
      set_here(2 * i, v);
      set_here(2 * i + 1, d);
    }
  }

  /// Beyond the last row: what lies above.
  __device__ __forceinline__ void close_above()
  {
    const C sign = value_reflection<C>(p.sides[3]);
#pragma unroll
    for (int i = 0; i < n; ++i)
    {
      V v, d;
      if (p.sides[3] == Side::ghost)
        load_ghost(p.ghost[1], i, v, d);
      else
      {
        v = sign * here(2 * i);
        d = -sign * here(2 * i + 1);
      }
      add_face(i, v, d);
    }
  }

private:
  /// Right traces of the newest row: V of mode i at 2 i, D at 2 i + 1.
  __device__ __forceinline__ V here(int which) const
  {
    if constexpr (!Tile::parked)
      return newest[which];
    V value;
    const C *from = parking(which);
#pragma unroll
    for (int w = 0; w < width; w += park_width)
    {
      const Pack<C, park_width> some = load_pack<park_width>(from + w * 32);
#pragma unroll
      for (int q = 0; q < park_width; ++q)
        value.at[w + q] = some.at[q];
    }
    return value;
  }
  __device__ __forceinline__ void set_here(int which, const V &value)
  {
    if constexpr (!Tile::parked)
      newest[which] = value;
    else
#pragma unroll
      for (int w = 0; w < width; w += park_width)
      {
        Pack<C, park_width> some;
#pragma unroll
        for (int q = 0; q < park_width; ++q)
          some.at[q] = value.at[w + q];
        write_pack(parking(which) + w * 32, some);
      }
  }
  __device__ __forceinline__ C *parking(int which) const
  {
    return reinterpret_cast<C *>(memory + Tile::park_offset + which * Tile::park_bytes) +
        at.lane * park_width;
  }

  /// Left traces of row c + 1 for the lines in y of mode i.
  __device__ __forceinline__ void add_face(int i, const V &above_v, const V &above_d)
  {
#pragma unroll
    for (int w = 0; w < width; ++w)
    {
      even_v[i].at[w] = below_d[i].at[w] - above_d.at[w];
      even_g[i].at[w] = above_v.at[w] + below_v[i].at[w];
      odd_v[i].at[w] = -below_d[i].at[w] - above_d.at[w];
      odd_g[i].at[w] = above_v.at[w] - below_v[i].at[w];
    }
  }

  /// Traces of the cells outside, from a ghost buffer.
  __device__ __forceinline__ void load_ghost(const C *ghost, int i, V &v, V &d) const
  {
    const C *from = ghost + i * p.pitch + at.x();
#pragma unroll
    for (int w = 0; w < width; ++w)
    {
      v.at[w] = w <= at.last ? from[w] : C(0);
      d.at[w] = w <= at.last ? from[n * p.pitch + w] : C(0);
    }
  }
};
} // namespace tensormg::laplace::strip
