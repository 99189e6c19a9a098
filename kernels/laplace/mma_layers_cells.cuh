// The warps that compute in the tensor-core layer kernel: see mma_layers.cuh.
#pragma once

#include "kernels/laplace/mma_layers_fragments.cuh"

namespace tensormg::laplace::mma_layers
{
template <typename Tile, Form form>
class Cells
{
  using Number = typename Tile::Number;
  using W = Weights<Tile>;
  using Trace = Traces<Tile::parts>;
  static constexpr int n = Tile::n, modes = Tile::modes, tiles = Tile::tiles;
  using Lines = typename Tile::Lines;
  static constexpr int groups = Tile::groups, x_blocks = Tile::x_blocks;
  static constexpr int y_blocks = Tile::y_blocks, line_tiles = Tile::line_tiles;
  static constexpr unsigned all = ~0u;

  const MmaLayersParameters<Tile> &p;
  const Shared<Tile> &shared;
  const W weights;
  const int lane;
  const int cy, cell0, share; ///< row of cells, first cell, which lines
  const int first_mode;       ///< of a plane
  unsigned char *const spare; ///< this lane's part
  const LinesAt<Tile, x_blocks> own_at;
  float2 diagonal[tiles]; ///< D without the part of k, of this lane's columns
  Trace below[groups], top[groups], above[groups]; ///< in z
  pipeline::RingPosition<Tile::ring> own;          ///< plane 0 of the current layer
  pipeline::RingPosition<Tile::halo_ring> halo;
  pipeline::RingPosition<Tile::input_ring> input;
  Place s;
  int beside_at[x_blocks]; ///< lines of the eight cells before and after the warp's, ...
  bool beside_in_halo;     ///< ... in the halo (this lane's)

  /// Weights of traces in y.
  typename W::Held held[2][Tile::holds_weights ? Lines::weights : 1];

  /// Where the traces beside the warp's cells in x come from: a cell beside them, or behind a closed side its own one.
  struct End
  {
    bool closed;
    int from;           ///< lane
    std::uint32_t flip; ///< bits: behind a closed side
  } left_end, right_end;
  int last_cell; ///< of the warp's, 0..15

  /// Where the traces on one side in y come from.
  struct Beside
  {
    int at[y_blocks]; ///< lines of a plane
    bool in_halo;
    bool left;          ///< which end of those lines
    std::uint32_t flip; ///< bits: behind a closed side
    bool ghost;         ///< they lie in memory instead
  } beside[2];

public:
  __device__ __forceinline__ Cells(
      const MmaLayersParameters<Tile> &p_, const Shared<Tile> &shared_, int warp)
    : p(p_)
    , shared(shared_)
    , weights(shared_.base)
    , lane(threadIdx.x % 32)
    , cy(warp / Tile::split / (Tile::cells_x / 16))
    , cell0(warp / Tile::split % (Tile::cells_x / 16) * 16)
    , share(warp % Tile::split)
    , first_mode(share * Tile::lines * n)
    , spare(shared_.base + Tile::spare_offset + warp * Tile::spare_bytes + lane % 8 * 16)
    , own_at(cy, first_mode, cell0)
  {
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
    {
      const int mode = min(first_mode + 8 * tile + 2 * (lane % 4), modes - 1);
      const int next = min(mode + 1, modes - 1);
      diagonal[tile] = {p.lambda[0][mode % n] + p.lambda[1][mode / n],
          p.lambda[0][next % n] + p.lambda[1][next / n]};
    }
  }

  __device__ __forceinline__ void run()
  {
    for (int index = 0; place(p, index, s); ++index)
    {
      if (cy > s.last_y || cell0 > s.last_x)
      {
        pass_by();
        continue;
      }
      begin_segment();
#pragma unroll 1
      for (int c = s.z0; c < s.z1; ++c)
      {
        work_on_layer(c);
#pragma unroll
        for (int group = 0; group < groups; ++group)
          below[group] = top[group];
        advance();
      }
      if (s.after)
        release_layer();
    }
  }

private:
  __device__ __forceinline__ int own_slot(int k) const
  {
    const int slot = own.slot + k;
    return slot < Tile::ring ? slot : slot - Tile::ring;
  }
  /// Planes from .. from + n - 1, counted from the current layer's first one, have arrived.
  __device__ __forceinline__ void wait_layer(int from) const
  {
#pragma unroll 1
    for (int k = from; k < from + n; ++k)
    {
      const bool next = own.slot + k >= Tile::ring;
      pipeline::wait(shared.own_full(own_slot(k)), own.parity ^ unsigned(next));
    }
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
  __device__ __forceinline__ void release_layer()
  {
#pragma unroll 1
    for (int k = 0; k < n; ++k)
      pipeline::arrive_to_overwrite(shared.own_empty(own_slot(k)));
    advance();
  }
  /// After a fence.
  __device__ __forceinline__ void release_halo()
  {
    pipeline::arrive(shared.halo_empty(halo.slot));
    halo.advance();
  }
  /// b and old are there, and room for the result.
  __device__ __forceinline__ void wait_input() const
  {
    if constexpr (form == Form::apply)
      pipeline::wait(shared.input_empty(input.slot), input.parity ^ 1u);
    else
      pipeline::wait(shared.input_full(input.slot), input.parity);
  }
  /// After a fence.
  __device__ __forceinline__ void hand_over_result()
  {
    pipeline::arrive(shared.result(input.slot));
    input.advance();
  }

  /// Cells outside of the block: takes from the rings what the other warps take.
  __device__ __forceinline__ void pass_by()
  {
    for (int c = s.z0 - s.before; c < s.z1 + s.after; ++c)
    {
      wait_layer(0);
      release_layer();
      for (int k = 0; k < n && c >= s.z0 && c < s.z1; ++k)
      {
        pipeline::wait(shared.halo_full(halo.slot), halo.parity);
        wait_input();
        pipeline::fence_copies();
        release_halo();
        hand_over_result();
      }
    }
  }

  /// Lines 4 group .. 4 group + 3 in z of the layer whose planes begin at `from`.
  __device__ __forceinline__ A load_lines_z(int group, int block, int from) const
  {
    // Slot of the multiplicand: mode k = at / 4 of line at % 4.
    const int at = block * 16 + lane / 16 * 8 + lane % 8;
    const int line = cy * modes + min(first_mode + 4 * group + at % 4, modes - 1);
    return load_cells(shared.own(own_slot(from + min(at / 4, n - 1))) +
        Tile::Rows::at(line, cell0 + lane / 8 % 2 * 8));
  }
  __device__ __forceinline__ void traces_z(Trace (&result)[groups], bool left, int from) const
  {
    typename W::Held ends[Tile::z_blocks];
#pragma unroll
    for (int block = 0; block < Tile::z_blocks; ++block)
      ends[block] = weights.hold(W::z_trace(left, block));
#pragma unroll
    for (int group = 0; group < groups; ++group)
    {
      D sums{};
#pragma unroll
      for (int block = 0; block < Tile::z_blocks; ++block)
        add_numbers(sums, load_lines_z(group, block, from), ends[block].part);
      result[group] = Trace(sums);
    }
  }

  /// What lies behind a Dirichlet or Neumann side has the own traces there but for one sign each.
  __device__ __forceinline__ std::uint32_t flip(int side) const
  {
    return p.sides[side] == Side::dirichlet ? 0x00008000u : 0x80000000u;
  }

  /// Traces of a ghost: `line` of `lines`, mode i.
  __device__ __forceinline__ Trace ghost(
      int side, std::int64_t lines, std::int64_t line, int i, bool exists) const
  {
    const int cell = cell0 + lane / 4;
    const float *from = p.ghost[side] + line * p.block.row() + i * p.block.pitch + s.x0 + cell;
    const float *derivative = from + lines * p.block.row();
    const bool here = exists && cell <= s.last_x, next = exists && cell + 8 <= s.last_x;
    return {here ? from[0] : 0.f, here ? derivative[0] : 0.f, next ? from[8] : 0.f,
        next ? derivative[8] : 0.f};
  }
  __device__ __forceinline__ Trace ghost_z(int side, int group) const
  {
    const int mode = first_mode + 4 * group + lane % 4;
    return ghost(
        side, p.block.rows_per_plane(), (s.y0 + cy) * n + mode / n, mode % n, mode < modes);
  }
  __device__ __forceinline__ Trace ghost_y(int side, int plane, int lines) const
  {
    const int i = Lines::per_tile * lines + lane % 4;
    return ghost(side, p.block.planes(), plane, i, lane % 4 < Lines::per_tile && i < n);
  }

  __device__ __forceinline__ Beside beside_y(bool upper) const
  {
    const int side = upper ? 3 : 2;
    const bool edge = upper ? cy == s.last_y : cy == 0;
    const bool end = edge && (upper ? s.upper_end : s.lower_end);
    const bool closed = end && p.sides[side] != Side::ghost;
    Beside result;
    result.ghost = end && !closed;
    result.in_halo = edge && !closed;
    result.left = closed != upper;
    result.flip = closed ? flip(side) : 0;
    const int row = closed ? cy : edge ? 0 : upper ? cy + 1 : cy - 1;
    const int slot = lane / 16 * 8 + lane % 8;
#pragma unroll
    for (int block = 0; block < y_blocks; ++block)
    {
      // Where there is no mode the line of one that is as much modulo 8: its weights are zero, but it must be a number.
      const int mode = p.y_modes[16 * block + slot];
      const int line = row * modes + (mode < 0 ? slot % 8 : mode);
      result.at[block] = Tile::Rows::at(line, cell0 + lane / 8 % 2 * 8) +
          (result.in_halo && upper ? Tile::upper_at : 0);
    }
    return result;
  }

  /// Addresses, and the traces below the first layer.
  __device__ __forceinline__ void begin_segment()
  {
    const bool last = s.last_x < cell0 + 16; // the last cell of the tile is one of this warp's
    last_cell = last ? s.last_x - cell0 : 15;
    // Lanes of the right ends of lines (t = lane % 4 < 2) ask for the first, those of the left ends for the second.
    const int t = lane % 4;
    left_end.closed = s.left_closed && cell0 == 0;
    left_end.from = left_end.closed ? t + 2 : 4 * (cell0 == 0 ? s.left_cell : 7) + t;
    left_end.flip = left_end.closed ? flip(0) : 0;
    right_end.closed = s.right_closed && last;
    right_end.from = right_end.closed ? (4 * (last_cell % 8) + t + 30) % 32 : t;
    right_end.flip = right_end.closed ? flip(1) : 0;
    beside[0] = beside_y(false);
    beside[1] = beside_y(true);
    if constexpr (Tile::holds_weights)
      hold_weights();
    // The cells beside this warp's: from a box beside the tile, or from the tile.
    const bool right = lane / 8 % 2 == 1;
    beside_in_halo = right ? last || cell0 + 16 == Tile::cells_x : cell0 == 0;
#pragma unroll
    for (int block = 0; block < x_blocks; ++block)
    {
      const int mode = min(first_mode + 16 * block + lane / 16 * 8 + lane % 8, modes - 1);
      beside_at[block] = beside_in_halo
          ? (right ? Tile::right_at : Tile::left_at) + 16 * (cy * modes + mode)
          : Tile::Rows::at(cy * modes + mode, right ? cell0 + 16 : cell0 - 8);
    }
    if (s.before)
    {
      wait_layer(0);
      traces_z(below, false, 0);
      release_layer();
    }
    wait_layer(0);
    if (!s.before)
    {
      traces_z(below, true, 0);
#pragma unroll
      for (int group = 0; group < groups; ++group)
        below[group] =
            p.sides[4] == Side::ghost ? ghost_z(4, group) : below[group].flipped(flip(4));
    }
  }

  /// Traces in z above layer c. The last plane there may be late: its place was that of the plane just finished.
  __device__ __forceinline__ void close_above(int c)
  {
    if (c + 1 < s.z1 || s.after)
    {
      wait_layer(n);
      traces_z(above, true, n);
    }
    else
#pragma unroll
      for (int group = 0; group < groups; ++group)
        above[group] = p.sides[5] == Side::ghost ? ghost_z(5, group) : top[group].flipped(flip(5));
  }

  /// Held, or of shared memory.
  __device__ __forceinline__ auto y_trace(int side, int block) const
  {
    return Tile::holds_weights ? held[side][block % Lines::weights]
                               : weights.hold(W::y_trace(beside[side].left, block));
  }
  __device__ __forceinline__ auto y_face(int lines, int tile) const
  {
    return weights.hold(W::y_face(0, lines, tile) + share * (line_tiles * tiles));
  }
  __device__ __forceinline__ void hold_weights()
  {
#pragma unroll
    for (int side = 0; side < 2; ++side)
#pragma unroll
      for (int block = 0; block < Lines::weights; ++block)
        held[side][block] = weights.hold(W::y_trace(beside[side].left, block));
  }

  /// A plane whose traces are known: own modes, traces beside this warp's lines.
  struct Plane
  {
    A u[x_blocks];
    Trace x[Tile::pairs], y[2][line_tiles];
  };
  /// What becomes traces.
  struct SumsX
  {
    D own[Tile::pairs], outside[Tile::pairs];
  };
  using SumsY = D[2][line_tiles];
  using Accumulators = D[tiles];

  __device__ __forceinline__ A load_row(int side, int block, int k) const
  {
    return load_cells((beside[side].in_halo ? shared.halo(halo.slot) : shared.own(own_slot(k))) +
        beside[side].at[block]);
  }
  __device__ __forceinline__ void work_on_layer(int c);
  template <bool finishes, bool begins>
  __device__ __forceinline__ void work(Plane &at, Plane &next, int k);
  __device__ __forceinline__ void read(A (&u)[x_blocks], A (&around)[x_blocks], int k) const;
  __device__ __forceinline__ void multiply_x(
      SumsX &x, const A (&u)[x_blocks], const A (&around)[x_blocks]) const;
  __device__ __forceinline__ void multiply_y(SumsY &y, int k) const;
  __device__ __forceinline__ void exchange_x(Trace (&faces)[Tile::pairs], const SumsX &sums) const;
  __device__ __forceinline__ void add_ghosts(Plane &at, int plane) const;
  template <int blocks_b, int blocks_old>
  __device__ __forceinline__ void read_input(A (&b)[blocks_b], A (&old)[blocks_old]) const;
  __device__ __forceinline__ void add_x(Accumulators &sum, const Trace (&faces)[Tile::pairs]) const;
  __device__ __forceinline__ void add_y(
      Accumulators &sum, const Trace (&faces)[2][line_tiles]) const;
  __device__ __forceinline__ void add_z(Accumulators &sum, int k) const;
  template <int blocks_b, int blocks_old>
  __device__ __forceinline__ void write(const Accumulators &sum, const A (&u)[x_blocks],
      const A (&b)[blocks_b], const A (&old)[blocks_old], int k) const;
};
} // namespace tensormg::laplace::mma_layers
