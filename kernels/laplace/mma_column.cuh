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
// Source of keeping accumulators as multiplicands: kernels/mma/chaining.h.
#pragma once

#include "kernels/laplace/mma_column_fragments.cuh"

namespace tensormg::laplace::mma_column
{
using column::Place;

/// The warps that compute.
template <typename Tile, Form form>
class Cells
{
  using Number = typename Tile::Number;
  using K = Constants<Tile>;
  static constexpr int n = Tile::n, modes = Tile::modes, tiles = Tile::tiles;
  static constexpr int k_blocks = Tile::k_blocks, line_tiles = Tile::line_tiles;
  static constexpr int groups = Tile::line_groups, fragments = Tile::fragments;
  static constexpr int part_cells = 16 * fragments;
  static constexpr unsigned all = ~0u;

  const MmaColumnParameters<Tile> &p;
  const column::Shared<Tile> &shared;
  const Constants<Tile> constants;
  const int lane, cy, cell0;  ///< row of cells, first cell of this warp in it
  unsigned char *const spare; ///< of this warp
  BlocksAt<k_blocks> own_at, input_at, beside_at;
  D sum[fragments][n][tiles];             ///< B u so far, or what takes its place
  Traces carry[fragments][groups];        ///< at the top of the layer below
  pipeline::RingPosition<Tile::ring> own; ///< plane 0 of the current layer
  pipeline::RingPosition<Tile::input_ring == 0 ? 1 : Tile::input_ring> input;
  unsigned results = 0; ///< parity of the slots of results
  Place s;
  bool last;                     ///< the last cell of the tile belongs to this warp
  bool first_closed;             ///< left of its first cell is a Dirichlet or Neumann side
  bool ends_inside;              ///< so is right of its last cell, or the block ends before that
  Beside<k_blocks> below, above; ///< in y

public:
  __device__ __forceinline__ Cells(
      const MmaColumnParameters<Tile> &p_, const column::Shared<Tile> &shared_)
    : p(p_)
    , shared(shared_)
    , constants(shared_.base)
    , lane(threadIdx.x % 32)
    , cy(__shfl_sync(all, int(threadIdx.x) / 32, 0) / Tile::parts)
    , cell0(__shfl_sync(all, int(threadIdx.x) / 32, 0) % Tile::parts * part_cells)
    , spare(shared_.base + Tile::spare_offset +
          __shfl_sync(all, int(threadIdx.x) / 32, 0) * Tile::spare_bytes)
  {
    own_at = blocks_at(cy + 1, cell0 + lane / 8 % 2 * 8);
    input_at = blocks_at(cy, cell0 + lane / 8 % 2 * 8);
  }

  __device__ __forceinline__ void run()
  {
    for (int index = 0; column::place(p, index, s); ++index)
    {
      if (cy > s.last_y || cell0 > s.last_x)
      {
        pass_by();
        continue;
      }
      begin_segment();
      for (int c = s.z0; c < s.z1; ++c)
      {
        wait_layer();
        begin_layer(c > s.z0);
#pragma unroll
        for (int k = 0; k < n; ++k)
        {
          add_plane(c, k);
          pipeline::arrive_to_overwrite(shared.own_empty(own_slot(k)));
        }
        advance();
      }
      end_segment();
    }
  }

private:
  __device__ __forceinline__ int mode_of_lane(int block) const
  {
    return min(block * 16 + lane / 16 * 8 + lane % 8, modes - 1);
  }
  __device__ __forceinline__ BlocksAt<k_blocks> blocks_at(int row, int cell) const
  {
    BlocksAt<k_blocks> at;
#pragma unroll
    for (int block = 0; block < k_blocks; ++block)
      at.of[block] = SwizzledRows<Tile::row_bytes>::at(row * modes + mode_of_lane(block), cell);
    return at;
  }
  using Blocks = A[k_blocks];
  /// The modes of a plane at the cells of fragment f, counted from where `at` points.
  __device__ __forceinline__ static void load_blocks(
      Blocks &u, const unsigned char *plane, const BlocksAt<k_blocks> &at, int f)
  {
#pragma unroll
    for (int block = 0; block < k_blocks; ++block)
      u[block] = load_cells(plane + (at.of[block] ^ 32 * f));
  }
  __device__ __forceinline__ int own_slot(int k) const
  {
    const int slot = own.slot + k;
    return slot < Tile::ring ? slot : slot - Tile::ring;
  }
  __device__ __forceinline__ unsigned char *slot(int k) const
  {
    return shared.base + own_slot(k) * Tile::slot_bytes;
  }
  __device__ __forceinline__ void wait_layer() const
  {
#pragma unroll
    for (int k = 0; k < n; ++k)
    {
      const int at = own.slot + k;
      const bool next = at >= Tile::ring;
      pipeline::wait(shared.own_full(next ? at - Tile::ring : at), own.parity ^ unsigned(next));
    }
  }
  __device__ __forceinline__ void release_layer()
  {
#pragma unroll
    for (int k = 0; k < n; ++k)
      pipeline::arrive_to_overwrite(shared.own_empty(own_slot(k)));
    advance();
  }
  __device__ __forceinline__ void advance()
  {
    own.slot += n;
    if (own.slot >= Tile::ring)
    {
      own.slot -= Tile::ring;
      own.parity ^= 1u;
    }
  }

  /// There is room for the results of a layer.
  __device__ __forceinline__ void wait_results() const
  {
#pragma unroll
    for (int k = 0; k < n; ++k)
      pipeline::wait(shared.result_empty(k), results ^ 1u);
  }
  /// What this warp has of them is written.
  __device__ __forceinline__ void hand_over_results()
  {
    pipeline::fence_copies();
#pragma unroll
    for (int k = 0; k < n; ++k)
      pipeline::arrive(shared.result_full(k));
    results ^= 1u;
  }

  /// Cells outside of the block: takes from the rings what the other warps take, in their order.
  __device__ __forceinline__ void pass_by()
  {
    for (int c = s.z0 - s.before; c < s.z1 + s.after; ++c)
    {
      wait_layer();
      release_layer();
      if (c < s.z0 || c >= s.z1)
        continue;
      if constexpr (form != Form::apply)
        for (int k = 0; k < n; ++k)
        {
          pipeline::wait(shared.input_full(input.slot), input.parity);
          pipeline::arrive_to_overwrite(shared.input_empty(input.slot));
          input.advance();
        }
      wait_results();
      hand_over_results();
    }
  }

  /// Lines 4 group .. 4 group + 3 of the layer in z, at the cells of fragment f.
  __device__ __forceinline__ A load_lines_z(int f, int group, int block) const
  {
    // Slot of the multiplicand: mode k = at / 4 of line at % 4.
    const int at = block * 16 + lane / 16 * 8 + lane % 8;
    const int line = (cy + 1) * modes + min(4 * group + at % 4, modes - 1);
    return load_cells(slot(min(at / 4, n - 1)) +
        SwizzledRows<Tile::row_bytes>::at(line, cell0 + 16 * f + lane / 8 % 2 * 8));
  }
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

  /// Traces of a ghost: `line` of `lines`, mode i, of fragment f.
  __device__ __forceinline__ Traces ghost(
      int side, std::int64_t lines, std::int64_t line, int i, int f) const
  {
    const int cell = cell0 + 16 * f + lane / 4;
    const float *from = p.ghost[side] + line * p.block.row() + i * p.block.pitch + s.x0 + cell;
    const float *derivative = from + lines * p.block.row();
    return {cell <= s.last_x ? mma::to_halves(from[0], derivative[0]) : 0,
        cell + 8 <= s.last_x ? mma::to_halves(from[8], derivative[8]) : 0};
  }
  __device__ __forceinline__ Traces ghost_z(int side, int f, int group) const
  {
    const int mode = 4 * group + lane % 4;
    if (mode >= modes)
      return {0, 0};
    return ghost(side, p.block.rows_per_plane(), (s.y0 + cy) * n + mode / n, mode % n, f);
  }
  __device__ __forceinline__ Traces ghost_y(int side, int plane, int f, int lines) const
  {
    const int i = 4 * lines + lane % 4;
    if (i >= n)
      return {0, 0};
    return ghost(side, p.block.planes(), plane, i, f);
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
    last = s.last_x < cell0 + part_cells;
    first_closed = s.left_closed && cell0 == 0;
    ends_inside = last && (s.right_closed || s.partial);
    below = beside_y(false);
    above = beside_y(true);
    // The cells beside this warp's: from a box beside the tile, or from the row itself.
    const bool right = lane / 8 % 2 == 1;
    beside_at = blocks_at(cy + 1, right ? cell0 + part_cells : cell0 - 8);
    if (right ? last : cell0 == 0)
#pragma unroll
      for (int block = 0; block < k_blocks; ++block)
        beside_at.of[block] =
            (right ? Tile::right_at : Tile::left_at) + 16 * (cy * modes + mode_of_lane(block));

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
          carry[f][group] = ghost ? ghost_z(4, f, group) : behind(4, left[group]);
    }
    if (s.before)
      release_layer();
  }

  /// Finishes the layer before, if there is one, and starts this one.
  __device__ __forceinline__ void begin_layer(bool finishes)
  {
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

  /// Traces of the eight lines in z of a tile.
  __device__ __forceinline__ static A at_one_side(const Traces (&of_group)[groups], int tile)
  {
    return both(of_group[2 * tile],
        2 * tile + 1 < groups ? of_group[2 * tile + 1 < groups ? 2 * tile + 1 : 0] : Traces(0, 0));
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
              p.sides[5] == Side::ghost ? ghost_z(5, f, group) : behind(5, carry[f][group]);
      finish(f, above);
    }
    hand_over_results();
    if (s.after)
      release_layer();
  }

  __device__ __forceinline__ void finish(int f, const Traces (&above)[groups]);
  __device__ __forceinline__ void add_plane(int c, int k);
  __device__ __forceinline__ void faces_x(A (&faces)[fragments],
      const Traces (&right)[fragments][line_tiles], const Traces (&left)[fragments][line_tiles],
      std::uint32_t first, std::uint32_t outside, int lines) const;
};
} // namespace tensormg::laplace::mma_column
