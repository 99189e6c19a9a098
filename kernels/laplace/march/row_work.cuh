// What the kernels share in which a lane has neighbouring cells of a row of 16 lanes, and whole layers of such rows lie in
// shared memory (layers/, rounds/).
#pragma once

#include <type_traits>

#include "kernels/laplace/march/line_sums.cuh"
#include "kernels/laplace/march/place.cuh"

namespace tensormg::laplace
{
template <typename Tile>
struct RowParameters : TileParameters<Tile>
{
  using C = typename Tile::C;
  CUtensorMap row_beside;             ///< boxes of one row of cells of src
  C lambda[3][Tile::n];               ///< c_d lambda times what D u is multiplied by in the sums
  const typename Tile::Number *input; ///< b, for lanes
  const std::uint8_t *l2_halves;      ///< of take_worker()
};

/// And for Chebyshev steps, ChebyshevShares.
template <typename Tile>
struct RowStepParameters : RowParameters<Tile>
{
  using C = typename Tile::C;
  const typename Tile::Number *old; ///< for lanes; nullptr: zero
  C theta;
  C factor[Tile::n][Tile::modes]; ///< alpha / D, [k][j n + i]
  C of_old[Tile::n][Tile::modes]; ///< what old is multiplied by in the sums
};
template <typename Tile, Form form>
using RowParametersOf =
    std::conditional_t<form == Form::chebyshev, RowStepParameters<Tile>, RowParameters<Tile>>;

namespace march
{
  /// Traces (V, D) beside a line in x, at its left or right end: `from` has the modes i of the cell there, or, at a closed end, of the line's
  /// own last cell, whose reflection is taken.
  template <typename Tile, typename Number>
  __device__ __forceinline__ Pack<typename Tile::C, 2> sum_beside(
      const RowParameters<Tile> &p, const Number *from, bool right, bool closed)
  {
    using C = typename Tile::C;
    const int stride = closed ? Tile::cells_x : Tile::halo_x;
    LineSums<Pack<C, 1>> sums;
#pragma unroll
    for (int i = 0; i < Tile::n; ++i)
      sums.add(i, p.v[i], p.h[i], load_pack<1>(from + i * stride));
    auto trace = right != closed ? sums.lower() : sums.upper();
    if (closed)
    {
      const C sign = value_reflection<C>(p.sides[right]);
      trace = {sign * trace.v, -sign * trace.d};
    }
    Pack<C, 2> both;
    both.at[0] = trace.v.at[0];
    both.at[1] = trace.d.at[0];
    return both;
  }

  /// A lane has `width` neighbouring cells of a row of 16 lanes.
  template <typename Tile>
  class RowWork
  {
  public:
    using Number = typename Tile::Number;
    using C = typename Tile::C;
    static constexpr int n = Tile::n, modes = Tile::modes, width = Tile::width;
    using V = Pack<C, width>;
    using Trace = march::Trace<V>;
    static constexpr int mode_x = Tile::cells_x; ///< numbers between modes in x in a plane
    static constexpr int mode_y = mode_x * n;    ///< between modes in y
    static constexpr int row_y = mode_y * n;     ///< between rows of cells

    const RowParameters<Tile> &p;
    const int lane, warp, half;
    const int cell; ///< first cell of this lane in its row
    Place &s;

    __device__ __forceinline__ RowWork(const RowParameters<Tile> &p_, int warp_, Place &place)
      : p(p_)
      , lane(threadIdx.x % 32)
      , warp(warp_)
      , half(lane / 16)
      , cell(lane % 16 * width)
      , s(place)
    {}

    template <typename T>
    __device__ __forceinline__ V load(const T *from) const
    {
      return load_pack<width>(from);
    }

    /// What lies behind a Dirichlet or Neumann side, from the own traces there.
    __device__ __forceinline__ Trace behind(int side, const Trace &inside) const
    {
      const C sign = value_reflection<C>(p.sides[side]);
      return {sign * inside.v, -sign * inside.d};
    }

    /// Traces of a ghost: `line` of `lines`, mode i; padding is ignored.
    __device__ __forceinline__ Trace ghost(
        int side, std::int64_t lines, std::int64_t line, int i) const
    {
      const C *from = p.ghost[side] + line * p.block.row() + i * p.block.pitch + s.x0 + cell;
      Trace result;
#pragma unroll
      for (int w = 0; w < width; ++w)
      {
        const bool there = cell + w <= s.last_x;
        result.v.at[w] = there ? from[w] : C(0);
        result.d.at[w] = there ? from[lines * p.block.row() + w] : C(0);
      }
      return result;
    }

    /// A line in x from its traces at both ends and those beside the row.
    __device__ __forceinline__ Faces<V> couple(const Pack<C, 2> &outside_left,
        const Pack<C, 2> &outside_right, const Trace &left, const Trace &right) const
    {
      const bool first = cell == 0, last_lane = cell == Tile::cells_x - width;
      const auto is_last = [&](int w) { return cell + w == s.last_x; };
      const bool ends = is_last(width - 1);
      const C lower_v = __shfl_up_sync(~0u, ends ? C(0) : right.v.at[width - 1], 1);
      const C lower_d = __shfl_up_sync(~0u, ends ? C(0) : right.d.at[width - 1], 1);
      const C upper_v = __shfl_down_sync(~0u, left.v.at[0], 1);
      const C upper_d = __shfl_down_sync(~0u, left.d.at[0], 1);
      Trace m, a;
      m.v.at[0] = first ? outside_left.at[0] : lower_v;
      m.d.at[0] = first ? outside_left.at[1] : lower_d;
      // The last lane of a row has nothing behind its last cell unless that is the block's or the tile's last one.
      const bool beyond = last_lane && !ends;
      a.v.at[width - 1] = ends ? outside_right.at[0] : beyond ? C(0) : upper_v;
      a.d.at[width - 1] = ends ? outside_right.at[1] : beyond ? C(0) : upper_d;
#pragma unroll
      for (int w = 0; w + 1 < width; ++w)
      {
        a.v.at[w] = is_last(w) ? outside_right.at[0] : left.v.at[w + 1];
        a.d.at[w] = is_last(w) ? outside_right.at[1] : left.d.at[w + 1];
        m.v.at[w + 1] = is_last(w) ? C(0) : right.v.at[w];
        m.d.at[w + 1] = is_last(w) ? C(0) : right.d.at[w];
      }
      return {m, a};
    }
  };
} // namespace march
} // namespace tensormg::laplace
