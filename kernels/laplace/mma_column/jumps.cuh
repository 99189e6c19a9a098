// b - B u in FP16 storage on tensor cores, degree 3 in 3D, as accurate for a large smooth u as with arithmetic in
// FP32: the kernel of steps.cuh with jumps of traces where that has traces, docs/kernels.md.
//
// B u of a smooth u is small, its terms are not: traces rounded to FP16 leave errors of the size that rounding u does.
// Here only jumps are rounded. They are formed in FP32, upper cell - lower cell, from products of numbers that are exact
// in FP16: in z and y by the accumulators of one product after the other, in x after a shuffle. For smooth u they are as
// small as what rounding u has left. The rest, L u of a cell alone, is a product with weights of two parts (22 bits);
// JumpWeights says why those of traces and faces need one only.
#pragma once

#include "kernels/laplace/mma_column/jump_constants.cuh"
#include "kernels/laplace/mma_column/warp.cuh"

namespace tensormg::laplace::mma_column
{
/// The warps that compute.
template <typename Tile>
class Jumps : Warp<Tile>
{
  using Base = Warp<Tile>;
  friend Base;
  using Base::first_lane, Base::right_closed;
  using Base::input_plane, Base::wait_input, Base::release_input, Base::ghost_y, Base::ghost_z;
  using Base::line_at, Base::load_lines_z, Base::at_one_side, Base::plane, Base::put;
  using Base::n, Base::modes, Base::tiles, Base::groups, Base::fragments, Base::part_cells;
  using Base::own_at, Base::input_at, Base::beside_at, Base::first_closed, Base::ends_inside;
  using Base::p, Base::shared, Base::lane, Base::cy, Base::cell0, Base::s, Base::sum, Base::all;
  using Base::wait_layer, Base::release_layer, Base::wait_results, Base::hand_over_results;
  using typename Base::Plane;
  using Traced = Constants<Tile>;
  using K = JumpConstants<Tile>;
  static constexpr int from_left = Traced::trace(0, true), from_right = Traced::trace(0, false);

  const K constants;
  D carry[fragments][groups]; ///< traces at the top of the layer below, with the other sign
  BesideRow below, above;

public:
  __device__ __forceinline__ Jumps(
      const MmaColumnParameters<Tile> &p_, const march::PlaneRings<Tile> &shared_)
    : Base(p_, shared_)
    , constants(shared_.base)
  {}

  __device__ __forceinline__ void run() { Base::march(*this); }

private:
  __device__ __forceinline__ static void scale(D &traces, float2 by)
  {
#pragma unroll
    for (int r = 0; r < 4; ++r)
      traces.registers[r] *= r % 2 == 0 ? by.x : by.y;
  }
  /// Behind a Dirichlet or Neumann side lie the own traces, but for one sign: own trace - that one in units of the own.
  __device__ __forceinline__ float2 step_behind(int side) const
  {
    return reflects_odd(p.sides[side]) ? float2{2.f, 0.f} : float2{0.f, 2.f};
  }
  __device__ __forceinline__ BesideRow beside_row(bool upper) const
  {
    const int side = upper ? 3 : 2;
    const bool end = upper ? s.upper_end && cy == s.last_y : s.lower_end && cy == 0;
    const bool closed = end && p.sides[side] != Side::ghost;
    BesideRow result;
    result.ghost = end && !closed;
    result.at = line_at(cy + 1 + (end ? 0 : upper ? 1 : -1), cell0 + lane / 8 % 2 * 8);
    result.entry = result.ghost ? K::beside_ghost(false, upper) : Traced::trace(1, closed != upper);
    // Columns are values and derivatives in turn.
    const bool flipped = closed && lane / 4 % 2 == int(reflects_odd(p.sides[side]));
    result.flip = flipped ? 0x80008000u : 0u;
    return result;
  }

  /// The traces below the first layer.
  __device__ __forceinline__ void begin_segment()
  {
    below = beside_row(false);
    above = beside_row(true);
    const bool ghost = !s.before && p.sides[4] == Side::ghost;
    const B weights = constants.hold(s.before ? Traced::trace_z(false)
            : ghost                           ? K::beside_ghost(true, false)
                                              : Traced::trace_z(true));
    // -(-V, D) behind a Dirichlet side
    const float2 signs = s.before || ghost ? float2{1.f, 1.f}
        : reflects_odd(p.sides[4])         ? float2{1.f, -1.f}
                                           : float2{-1.f, 1.f};
    wait_layer();
#pragma unroll
    for (int f = 0; f < fragments; ++f)
#pragma unroll
      for (int group = 0; group < groups; ++group)
      {
        D &traces = carry[f][group];
        traces = D{};
        if (ghost)
        {
          traces = ghost_z(4, f, group);
          scale(traces, {-1.f, -1.f});
        }
        mma::mma_sync(traces, load_lines_z(f, group), weights);
        scale(traces, signs);
      }
    if (s.before)
      release_layer();
  }

  /// Finishes the layer before, if there is one, and starts this one.
  __device__ __forceinline__ void begin_layer(int c)
  {
    const bool finishes = c > s.z0;
    const bool below_ghost = c + 1 == s.z1 && !s.after && p.sides[5] == Side::ghost;
    if (finishes)
      wait_results();
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      Traces jump[groups];
#pragma unroll
      for (int group = 0; group < groups; ++group)
      {
        D &traces = carry[f][group];
        const A lines = load_lines_z(f, group);
        mma::mma_sync(traces, lines, constants.hold(Traced::trace_z(true)));
        jump[group] = Traces(traces);
        traces = D{};
        mma::mma_sync(traces, lines, constants.hold(Traced::trace_z(false)));
        if (below_ghost)
          mma::mma_sync(traces, lines, constants.hold(K::beside_ghost(true, true)));
      }
      if (finishes)
        finish(f, jump);
#pragma unroll
      for (int k = 0; k < n; ++k)
      {
        const B weights = constants.hold(Traced::face_z(k, false));
#pragma unroll
        for (int tile = 0; tile < tiles; ++tile)
        {
          sum[f][k][tile] = D{};
          mma::mma_sync(sum[f][k][tile], at_one_side(jump, tile), weights);
        }
      }
    }
    if (finishes)
      hand_over_results();
  }

  __device__ __forceinline__ void end_segment()
  {
    if (s.after)
      wait_layer();
    wait_results();
    const bool ghost = !s.after && p.sides[5] == Side::ghost;
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      Traces jump[groups];
#pragma unroll
      for (int group = 0; group < groups; ++group)
      {
        D &traces = carry[f][group];
        if (s.after)
          mma::mma_sync(traces, load_lines_z(f, group), constants.hold(Traced::trace_z(true)));
        else if (ghost)
        {
          const D outside = ghost_z(5, f, group);
#pragma unroll
          for (int r = 0; r < 4; ++r)
            traces.registers[r] += outside.registers[r];
        }
        else
          scale(traces, step_behind(5));
        jump[group] = Traces(traces);
      }
      finish(f, jump);
    }
    hand_over_results();
    if (s.after)
      release_layer();
  }

  /// Adds the upper faces of a layer in fragment f, which completes it.
  __device__ __forceinline__ void finish(int f, const Traces (&jump)[groups])
  {
#pragma unroll
    for (int k = 0; k < n; ++k)
    {
      const B weights = constants.hold(Traced::face_z(k, true));
#pragma unroll
      for (int tile = 0; tile < tiles; ++tile)
        mma::mma_sync(sum[f][k][tile], at_one_side(jump, tile), weights);
      put(f, k, [&](int) { return float2{p.scale, p.scale}; });
    }
  }

  /// Row 2 (lane % 4) or the next one of a diagonal matrix, both of whose entries `twice` has.
  __device__ __forceinline__ SmallB diagonal(std::uint32_t twice) const
  {
    const int row = lane / 4 - 2 * (lane % 4);
    return {{twice & (row == 0 ? 0x0000ffffu : row == 1 ? 0xffff0000u : 0u)}};
  }

  __device__ __forceinline__ void add_plane(int c, int k);
  __device__ __forceinline__ void add_faces(int direction, int k, const A (&jumps)[fragments]);
  __device__ __forceinline__ Traces jump_after(int f, const A &u, const B &to_right,
      const float (&of_left)[fragments][4], const float (&beyond)[2]) const;
  __device__ __forceinline__ void faces_x(A (&jumps)[fragments], const A (&u)[fragments],
      const D (&left)[fragments], const D &beside_right, const D &beside_left) const;
  __device__ __forceinline__ void faces_y(
      A (&jumps)[fragments], const Plane &from, int number, const A (&u)[fragments]) const;
};

/// Plane k of layer c: faces in x and y while the sums are small, then the cells alone, and b.
template <typename Tile>
__device__ __forceinline__ void Jumps<Tile>::add_plane(int c, int k)
{
  const Plane from = plane(k);
  A u[fragments], jumps[fragments];
  {
    D left[fragments], beside_right{}, beside_left{};
    const B to_left = constants.hold(from_left);
    const A beside = from.load_beside(beside_at);
    mma::mma_sync(beside_right, beside, constants.hold(from_right));
    mma::mma_sync(beside_left, beside, to_left);
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      u[f] = from.load(own_at ^ 32 * f);
      left[f] = D{};
      mma::mma_sync(left[f], u[f], to_left);
    }
    faces_x(jumps, u, left, beside_right, beside_left);
  }
  add_faces(0, k, jumps);
  faces_y(jumps, from, c * n + k, u);
  add_faces(1, k, jumps);

#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
    for (int part = 0; part < 2; ++part)
    {
      const B weights = constants.hold(K::own(k, tile, part));
#pragma unroll
      for (int f = 0; f < fragments; ++f)
        mma::mma_sync(sum[f][k][tile], u[f], weights);
      if ((k ^ 2) < n)
      {
        const SmallB other = diagonal(p.jumps.other_z[k][part]);
#pragma unroll
        for (int f = 0; f < fragments; ++f)
          add_product(sum[f][(k ^ 2) < n ? k ^ 2 : 0][tile], modes_of_tile(u[f], tile), other);
      }
    }
  wait_input();
  const SmallB unit = diagonal(p.jumps.unit);
#pragma unroll
  for (int f = 0; f < fragments; ++f)
  {
    const A b = load_cells(input_plane(0) + (input_at ^ 32 * f));
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
      add_product(sum[f][k][tile], modes_of_tile(b, tile), unit);
  }
  release_input();
}

template <typename Tile>
__device__ __forceinline__ void Jumps<Tile>::add_faces(
    int direction, int k, const A (&jumps)[fragments])
{
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
  {
    const B weights = constants.hold(Traced::face(direction, tile));
#pragma unroll
    for (int f = 0; f < fragments; ++f)
      mma::mma_sync(sum[f][k][tile], jumps[f], weights);
  }
}

/// The jumps on both sides of the cells in y; `number` of the plane.
template <typename Tile>
__device__ __forceinline__ void Jumps<Tile>::faces_y(
    A (&jumps)[fragments], const Plane &from, int number, const A (&u)[fragments]) const
{
  Traces jump[2][fragments];
#pragma unroll
  for (int side = 0; side < 2; ++side)
  {
    const bool upper = side == 1;
    const BesideRow &row = upper ? above : below;
    const B own = constants.hold(Traced::trace(1, !upper));
    B other = constants.hold(row.entry);
    other.registers[0] ^= row.flip;
    other.registers[1] ^= row.flip;
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      D traces{};
      if (row.ghost)
      {
        traces = ghost_y(upper ? 3 : 2, number, f);
        if (!upper)
          scale(traces, {-1.f, -1.f});
      }
      mma::mma_sync(traces, u[f], own);
      mma::mma_sync(traces, from.load(row.at ^ 32 * f), other);
      jump[side][f] = Traces(traces);
    }
  }
#pragma unroll
  for (int f = 0; f < fragments; ++f)
    jumps[f] = both(jump[0][f], jump[1][f]);
}

/// The jumps at the right ends of the cells of fragment f, from the traces at the left end of the cells after them and of the one
/// beyond the warp's.
template <typename Tile>
__device__ __forceinline__ Traces Jumps<Tile>::jump_after(int f, const A &u, const B &to_right,
    const float (&of_left)[fragments][4], const float (&beyond)[2]) const
{
  const bool bottom_row = lane >= 28; // rows 7 and 15
  const int to_last = s.last_x - cell0 - 16 * f - lane / 4;
  D jump; // at first the trace beyond
#pragma unroll
  for (int e = 0; e < 2; ++e)
  {
    const float next = f == fragments - 1 ? beyond[e] : of_left[f == fragments - 1 ? f : f + 1][e];
    jump.registers[e] = bottom_row ? of_left[f][2 + e] : of_left[f][e];
    jump.registers[2 + e] = bottom_row ? next : of_left[f][2 + e];
    if (ends_inside)
    {
      const float end = right_closed ? 0.f : beyond[e];
      jump.registers[e] = to_last == 0 ? end : jump.registers[e];
      jump.registers[2 + e] = to_last == 8 ? end : jump.registers[2 + e];
    }
  }
  mma::mma_sync(jump, u, to_right);
  if (ends_inside && right_closed)
  {
    const float2 step = step_behind(1);
#pragma unroll
    for (int r = 0; r < 4; ++r)
      if (to_last == r / 2 * 8)
        jump.registers[r] *= r % 2 == 0 ? step.x : step.y;
  }
  return Traces(jump);
}

/// The jumps on both sides of the cells in x, from their traces at the left end and those of the cells beside the warp's.
template <typename Tile>
__device__ __forceinline__ void Jumps<Tile>::faces_x(A (&jumps)[fragments], const A (&u)[fragments],
    const D (&left)[fragments], const D &beside_right, const D &beside_left) const
{
  // The row before row 0 is one of the cells beside (in a box that wraps not always the last one), or a
  // reflection; likewise the row after the last cell.
  const int before = (lane + 28) % 32, after = (lane + 4) % 32;
  const bool top_row = lane < 4; // rows 0 and 8
  const float2 step_left = step_behind(0);
  float below_first[2], beyond[2], of_left[fragments][4];
#pragma unroll
  for (int e = 0; e < 2; ++e)
  {
    const float own = left[0].registers[e];
    const float other = __shfl_sync(all, beside_right.registers[e], first_lane + lane % 4);
    below_first[e] = first_closed ? own * (e == 0 ? step_left.x : step_left.y) : own + other;
    beyond[e] = __shfl_sync(all, beside_left.registers[2 + e], lane % 4);
  }
#pragma unroll
  for (int f = 0; f < fragments; ++f)
#pragma unroll
    for (int r = 0; r < 4; ++r)
      of_left[f][r] = __shfl_sync(all, left[f].registers[r], after);

  const B to_right = constants.hold(from_right);
  Traces upper[fragments], passed[fragments];
#pragma unroll
  for (int f = 0; f < fragments; ++f)
  {
    upper[f] = jump_after(f, u[f], to_right, of_left, beyond);
    passed[f] = {__shfl_sync(all, upper[f].low, before), __shfl_sync(all, upper[f].high, before)};
  }
#pragma unroll
  for (int f = 0; f < fragments; ++f)
  {
    const std::uint32_t lower_first =
        f == 0 ? mma::to_halves(below_first[0], below_first[1]) : passed[f == 0 ? 0 : f - 1].high;
    const Traces lower{
        top_row ? lower_first : passed[f].low, top_row ? passed[f].low : passed[f].high};
    jumps[f] = both(lower, upper[f]);
  }
}
} // namespace tensormg::laplace::mma_column
