// The `mma` backend in 3D, FP16 storage, degrees 1 to 3: the column kernel (cuda_column.cuh) with the sums over
// modes as products of matrices on tensor cores, docs/kernels.md.
//
// Cells are the rows of the matrices, 16 neighbours in x; modes, or traces of lines, are their columns. With
// U (16 cells x modes of a plane), and likewise for lines in z,
//   traces   T = U W         W: weights of the ends of the lines
//   faces    B u += T' F     T': traces of the neighbours, F: what they add to the modes
// Accumulators of T (lane = cell, trace) rounded to FP16 are what the second product wants as multiplicand, so
// nothing goes through shared memory between the two. Neighbours: in x the cell beside is one row further, a
// shuffle; in y the rows of cells below and above are read from the ring as they are; in z from layer to layer
// in registers. The diagonal, b and x_{k-1} are products with diagonal matrices of two parts (22 bits).
// The residual rounds jumps instead of traces: mma_column_jumps.cuh.
// Source of keeping accumulators as multiplicands: kernels/mma/chaining.h.
#pragma once

#include "kernels/laplace/mma_column/warp.cuh"

namespace tensormg::laplace::mma_column
{
/// The warps that compute.
template <typename Tile, Form form>
class Cells : Warp<Tile, form>
{
  using Base = Warp<Tile, form>;
  friend Base;
  using Base::blocks_at, Base::load_blocks, Base::load_lines_z, Base::at_one_side, Base::plane;
  using Base::first_lane, Base::first_closed, Base::right_closed, Base::ends_inside;
  using Base::input_plane, Base::wait_input, Base::release_input, Base::ghost_y, Base::ghost_z;
  using Base::n, Base::tiles, Base::k_blocks, Base::groups, Base::fragments, Base::part_cells,
      Base::all;
  using Base::own_at, Base::input_at, Base::beside_at;
  using Base::p, Base::shared, Base::lane, Base::cy, Base::cell0, Base::s, Base::sum;
  using Base::wait_layer, Base::release_layer, Base::wait_results, Base::hand_over_results,
      Base::put;
  using typename Base::Blocks, typename Base::Plane;
  using K = Constants<Tile>;
  static constexpr int line_tiles = Tile::line_tiles;

  const Constants<Tile> constants;
  Traces carry[fragments][groups]; ///< at the top of the layer below
  Beside<k_blocks> below, above;   ///< in y

public:
  __device__ __forceinline__ Cells(
      const MmaColumnParameters<Tile> &p_, const column::Shared<Tile> &shared_)
    : Base(p_, shared_)
    , constants(shared_.base)
  {}

  __device__ __forceinline__ void run() { Base::march(*this); }

private:
  using Held = typename Constants<Tile>::Held;

  /// Lines in z of fragment f at both ends.
  __device__ __forceinline__ void traces_z(
      int f, Traces (&left)[groups], Traces (&right)[groups]) const
  {
#pragma unroll
    for (int group = 0; group < groups; ++group)
    {
      D at_left{}, at_right{};
#pragma unroll
      for (int block = 0; block < Tile::z_blocks; ++block)
      {
        const A lines = load_lines_z(f, group, block);
        constants.hold(K::trace_z(true, block)).add(at_left, lines);
        constants.hold(K::trace_z(false, block)).add(at_right, lines);
      }
      left[group] = Traces(at_left);
      right[group] = Traces(at_right);
    }
  }

  /// Weights of the traces in x or y at one end; `entry`: of the first block and tile of lines.
  struct Ends
  {
    Held of[k_blocks][line_tiles];
  };
  template <int direction>
  __device__ __forceinline__ Ends hold_ends(int entry) const
  {
    Ends ends;
#pragma unroll
    for (int block = 0; block < k_blocks; ++block)
#pragma unroll
      for (int lines = 0; lines < line_tiles; ++lines)
        if (K::has_trace(direction, block, lines))
          ends.of[block][lines] = constants.hold(entry + block * line_tiles + lines);
    return ends;
  }
  template <int direction>
  __device__ __forceinline__ static Traces traces(const Blocks &u, const Ends &ends, int lines)
  {
    D sums{};
#pragma unroll
    for (int block = 0; block < k_blocks; ++block)
      if (K::has_trace(direction, block, lines))
        ends.of[block][lines].add(sums, u[block]);
    return Traces(sums);
  }

  /// What lies behind a Dirichlet or Neumann side has the own traces there but for one sign each.
  __device__ __forceinline__ std::uint32_t flip(int side) const
  {
    return p.sides[side] == Side::dirichlet ? 0x00008000u : 0x80000000u;
  }
  __device__ __forceinline__ Traces behind(int side, const Traces &inside) const
  {
    return inside.flipped(flip(side));
  }

  /// Where the traces on one side in y come from, for the tile at hand.
  __device__ __forceinline__ Beside<k_blocks> beside_y(bool upper) const
  {
    const int side = upper ? 3 : 2;
    const bool end = upper ? s.upper_end && cy == s.last_y : s.lower_end && cy == 0;
    const bool closed = end && p.sides[side] != Side::ghost;
    Beside<k_blocks> result;
    result.ghost = end && !closed;
    const int row = cy + 1 + (closed ? 0 : upper ? 1 : -1);
    result.at = blocks_at(row, cell0 + lane / 8 % 2 * 8);
    result.entry = K::trace(1, closed != upper);
    result.flip = closed ? flip(side) : 0;
    return result;
  }

  /// The traces below the first layer.
  __device__ __forceinline__ void begin_segment()
  {
    below = beside_y(false);
    above = beside_y(true);

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
        const Held weights = constants.hold(K::face_z(k, false));
#pragma unroll
        for (int tile = 0; tile < tiles; ++tile)
        {
          sum[f][k][tile] = D{};
          weights.add(sum[f][k][tile], at_one_side(carry[f], tile));
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

  __device__ __forceinline__ void add_plane(int c, int k);
  __device__ __forceinline__ void finish(int f, const Traces (&above)[groups]);
  __device__ __forceinline__ void faces_x(A (&faces)[fragments],
      const Traces (&right)[fragments][line_tiles], const Traces (&left)[fragments][line_tiles],
      std::uint32_t first, std::uint32_t outside, int lines) const;
};
} // namespace tensormg::laplace::mma_column
