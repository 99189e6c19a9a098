// The `mma` backend in 3D, FP16 storage, degree 3: the column kernel (column/column.cuh) with the sums over
// modes as products of matrices on tensor cores, docs/kernels.md. Here the Chebyshev step.
//
// Cells are the rows of the matrices, 16 neighbours in x; modes, or traces of lines, are their columns. With
// U (16 cells x modes of a plane), and likewise for lines in z,
//   traces   T = U W         W: weights of the ends of the lines
//   faces    B u += T' F     T': traces of the neighbours, F: what they add to the modes
// Accumulators of T (lane = cell, trace) rounded to FP16 are what the second product wants as multiplicand, so
// nothing goes through shared memory between the two. Neighbours: in x the cell beside is one row further, a
// shuffle; in y the rows of cells below and above are read from the ring as they are; in z from layer to layer
// in registers. The diagonal, b and x_{k-1} are products with diagonal matrices of two parts (22 bits).
// The residual rounds jumps instead of traces: jumps.cuh.
// Source of keeping accumulators as multiplicands: kernels/mma/chaining.h.
#pragma once

#include "kernels/laplace/mma_column/warp.cuh"

namespace tensormg::laplace::mma_column
{
/// The warps that compute.
template <typename Tile>
class Steps : Warp<Tile>
{
  using Base = Warp<Tile>;
  friend Base;
  using Base::first_lane, Base::first_closed, Base::right_closed, Base::ends_inside;
  using Base::input_plane, Base::wait_input, Base::release_input, Base::ghost_y, Base::ghost_z;
  using Base::line_at, Base::load_lines_z, Base::at_one_side, Base::plane;
  using Base::n, Base::tiles, Base::groups, Base::fragments, Base::all;
  using Base::own_at, Base::input_at, Base::beside_at;
  using Base::p, Base::shared, Base::lane, Base::cy, Base::cell0, Base::s, Base::sum;
  using Base::wait_layer, Base::release_layer, Base::wait_results, Base::hand_over_results,
      Base::put;
  using typename Base::Plane;
  using K = Constants<Tile>;

  const K constants;
  Traces carry[fragments][groups]; ///< at the top of the layer below
  BesideRow below, above;

public:
  __device__ __forceinline__ Steps(
      const MmaColumnParameters<Tile> &p_, const march::PlaneRings<Tile> &shared_)
    : Base(p_, shared_)
    , constants(shared_.base)
  {}

  __device__ __forceinline__ void run() { Base::march(*this); }

private:
  __device__ __forceinline__ static Traces traces(const A &u, const B &ends)
  {
    D sums{};
    mma::mma_sync(sums, u, ends);
    return Traces(sums);
  }

  /// Lines in z of fragment f at both ends.
  __device__ __forceinline__ void traces_z(
      int f, Traces (&left)[groups], Traces (&right)[groups]) const
  {
#pragma unroll
    for (int group = 0; group < groups; ++group)
    {
      const A lines = load_lines_z(f, group);
      left[group] = traces(lines, constants.hold(K::trace_z(true)));
      right[group] = traces(lines, constants.hold(K::trace_z(false)));
    }
  }

  /// What lies behind a Dirichlet or Neumann side has the own traces there but for one sign each.
  __device__ __forceinline__ std::uint32_t flip(int side) const
  {
    return reflects_odd(p.sides[side]) ? 0x00008000u : 0x80000000u;
  }
  __device__ __forceinline__ Traces behind(int side, const Traces &inside) const
  {
    return inside.flipped(flip(side));
  }

  __device__ __forceinline__ BesideRow beside_row(bool upper) const
  {
    const int side = upper ? 3 : 2;
    const bool end = upper ? s.upper_end && cy == s.last_y : s.lower_end && cy == 0;
    const bool closed = end && p.sides[side] != Side::ghost;
    BesideRow result;
    result.ghost = end && !closed;
    const int row = cy + 1 + (closed ? 0 : upper ? 1 : -1);
    result.at = line_at(row, cell0 + lane / 8 % 2 * 8);
    result.entry = K::trace(1, closed != upper);
    result.flip = closed ? flip(side) : 0;
    return result;
  }

  /// The traces below the first layer.
  __device__ __forceinline__ void begin_segment()
  {
    below = beside_row(false);
    above = beside_row(true);

    const bool ghost = !s.before && p.sides[4] == Side::ghost;
    if (!ghost)
      wait_layer();
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      Traces left[groups];
      if (!ghost)
        traces_z(f, left, carry[f]);
#pragma unroll
      for (int group = 0; group < groups; ++group)
        if (!s.before)
          carry[f][group] = ghost ? Traces(ghost_z(4, f, group)) : behind(4, left[group]);
    }
    if (s.before)
      release_layer();
  }

  /// Finishes the layer before, if there is one, and starts this one.
  __device__ __forceinline__ void begin_layer(int c)
  {
    const bool finishes = c > s.z0;
    if (finishes)
      wait_results();
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      Traces bottom[groups], top[groups];
      traces_z(f, bottom, top);
      if (finishes)
        finish(f, bottom);
#pragma unroll
      for (int k = 0; k < n; ++k)
      {
        const B weights = constants.hold(K::face_z(k, false));
#pragma unroll
        for (int tile = 0; tile < tiles; ++tile)
        {
          sum[f][k][tile] = D{};
          mma::mma_sync(sum[f][k][tile], at_one_side(carry[f], tile), weights);
        }
      }
#pragma unroll
      for (int group = 0; group < groups; ++group)
        carry[f][group] = top[group];
    }
    if (finishes)
      hand_over_results();
  }

  __device__ __forceinline__ void end_segment()
  {
    if (s.after)
      wait_layer();
    wait_results();
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      Traces above[groups], right[groups];
      if (s.after)
        traces_z(f, above, right);
      else
#pragma unroll
        for (int group = 0; group < groups; ++group)
          above[group] =
              p.sides[5] == Side::ghost ? Traces(ghost_z(5, f, group)) : behind(5, carry[f][group]);
      finish(f, above);
    }
    hand_over_results();
    if (s.after)
      release_layer();
  }

  /// Adds the upper faces of a layer in fragment f, which completes it.
  __device__ __forceinline__ void finish(int f, const Traces (&above_z)[groups])
  {
#pragma unroll
    for (int k = 0; k < n; ++k)
    {
      const B weights = constants.hold(K::face_z(k, true));
#pragma unroll
      for (int tile = 0; tile < tiles; ++tile)
        mma::mma_sync(sum[f][k][tile], at_one_side(above_z, tile), weights);
      put(f, k, [&](int tile) { return constants.factor(k, tile); });
    }
  }

  /// Plane k of layer c: the diagonal, b and old, the faces in x and y.
  __device__ __forceinline__ void add_plane(int c, int k)
  {
    const Plane from = plane(k);
    wait_input();
    A u[fragments], faces[fragments];
    Traces right[fragments], left[fragments];
    const auto [first, outside] = traces_x(u, right, left, from);
    add_diagonal(k, 1, u);
    add_diagonal(k, 2, u);
    load_input(faces, 0);
    add_diagonal(k, 0, faces);
    if (p.has_old)
    {
      load_input(faces, 1);
      add_diagonal(k, 3, faces);
      add_diagonal(k, 4, faces);
    }
    release_input();
    faces_x(faces, right, left, first, outside);
    add_faces(0, k, faces);
    faces_y(faces, from, c * n + k);
    add_faces(1, k, faces);
  }

  /// Traces of cells beside the warp's, in some lanes: of the one before, and of the one after them.
  struct BesideX
  {
    std::uint32_t first, outside;
  };
  /// Reads the plane, and the traces of all cells of the warp at both ends of their lines in x.
  __device__ __forceinline__ BesideX traces_x(A (&u)[fragments], Traces (&right)[fragments],
      Traces (&left)[fragments], const Plane &from) const
  {
    const A beside = from.load_beside(beside_at);
    const B at_right = constants.hold(K::trace(0, false)),
            at_left = constants.hold(K::trace(0, true));
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      u[f] = from.load(own_at ^ 32 * f);
      right[f] = traces(u[f], at_right);
      left[f] = traces(u[f], at_left);
    }
    return {traces(beside, at_right).low, traces(beside, at_left).high};
  }
  __device__ __forceinline__ void load_input(A (&values)[fragments], int part) const
  {
#pragma unroll
    for (int f = 0; f < fragments; ++f)
      values[f] = Plane{input_plane(part), 0}.load(input_at ^ 32 * f);
  }
  __device__ __forceinline__ void add_diagonal(int k, int term, const A (&of)[fragments])
  {
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
    {
      const SmallB weights = constants.hold_diagonal(term, k, tile);
#pragma unroll
      for (int f = 0; f < fragments; ++f)
        add_product(sum[f][k][tile], modes_of_tile(of[f], tile), weights);
    }
  }
  __device__ __forceinline__ void add_faces(int direction, int k, const A (&of)[fragments])
  {
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
    {
      const B weights = constants.hold(K::face(direction, tile));
#pragma unroll
      for (int f = 0; f < fragments; ++f)
        mma::mma_sync(sum[f][k][tile], of[f], weights);
    }
  }

  /// The traces on both sides of the cells in y; `number` of the plane.
  __device__ __forceinline__ void faces_y(
      A (&faces)[fragments], const Plane &from, int number) const
  {
    const B of_below = constants.hold(below.entry), of_above = constants.hold(above.entry);
    A lower[fragments], upper[fragments];
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      lower[f] = from.load(below.at ^ 32 * f);
      upper[f] = from.load(above.at ^ 32 * f);
    }
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      Traces lower_trace = traces(lower[f], of_below).flipped(below.flip);
      Traces upper_trace = traces(upper[f], of_above).flipped(above.flip);
      if (below.ghost)
        lower_trace = Traces(ghost_y(2, number, f));
      if (above.ghost)
        upper_trace = Traces(ghost_y(3, number, f));
      faces[f] = both(lower_trace, upper_trace);
    }
  }

  /// The traces on both sides of the cells in x, from those of the cells (`first`, `outside`: of the cells beside the
  /// warp's).
  __device__ __forceinline__ void faces_x(A (&faces)[fragments], const Traces (&right)[fragments],
      const Traces (&left)[fragments], std::uint32_t first, std::uint32_t outside) const
  {
    // The row before row 0 is one of the cells beside (in a box that wraps not always the last one), or a
    // reflection; likewise the row after the last cell.
    const int before = (lane + 28) % 32, after = (lane + 4) % 32;
    first = __shfl_sync(all, first, first_lane + lane % 4);
    if (first_closed)
      first = left[0].low ^ flip(0);
    const std::uint32_t beyond = __shfl_sync(all, outside, lane % 4);
    const bool top_row = lane < 4, bottom_row = lane >= 28; // rows 0 and 8, rows 7 and 15
    Traces of_right[fragments], of_left[fragments];
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      const Traces &r = right[f], &l = left[f];
      of_right[f] = {__shfl_sync(all, r.low, before), __shfl_sync(all, r.high, before)};
      of_left[f] = {__shfl_sync(all, l.low, after), __shfl_sync(all, l.high, after)};
    }
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      const std::uint32_t lower_first = f == 0 ? first : of_right[f == 0 ? 0 : f - 1].high;
      const std::uint32_t upper_last =
          f == fragments - 1 ? beyond : of_left[f == fragments - 1 ? f : f + 1].low;
      const Traces lower{
          top_row ? lower_first : of_right[f].low, top_row ? of_right[f].low : of_right[f].high};
      Traces upper{
          bottom_row ? of_left[f].high : of_left[f].low, bottom_row ? upper_last : of_left[f].high};
      if (ends_inside)
      {
        const Traces end = right_closed ? right[f].flipped(flip(1)) : Traces(beyond, beyond);
        const int cell = cell0 + 16 * f + lane / 4;
        upper.low = cell == s.last_x ? end.low : upper.low;
        upper.high = cell + 8 == s.last_x ? end.high : upper.high;
      }
      faces[f] = both(lower, upper);
    }
  }
};
} // namespace tensormg::laplace::mma_column
