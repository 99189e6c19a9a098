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
  static constexpr int groups = Tile::groups, x_blocks = Tile::x_blocks;
  static constexpr int k_blocks = Tile::k_blocks, line_tiles = Tile::line_tiles;
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
  bool first_closed;       ///< left of its first cell is a Dirichlet or Neumann side
  bool ends_inside;        ///< so is right of its last cell, or the block ends before that
  int beside_at[x_blocks]; ///< lines of the eight cells before and after the warp's, ...
  bool beside_in_halo;     ///< ... in the halo (this lane's)

  typename W::Held held[2][k_blocks][line_tiles]; ///< weights of traces in y, with ample registers

  /// Where the traces on one side in y come from.
  struct Beside
  {
    LinesAt<Tile, k_blocks> at;
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
        begin_layer(c);
#pragma unroll 1
        for (int k = 0; k < n; ++k)
          work_on_plane(c, k);
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
    const int i = 4 * lines + lane % 4;
    return ghost(side, p.block.planes(), plane, i, i < n);
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
    result.at = LinesAt<Tile, k_blocks>(row, 0, cell0);
    if (result.in_halo && upper)
    {
      result.at.first += Tile::upper_at;
      result.at.last += Tile::upper_at;
    }
    return result;
  }

  /// Addresses, and the traces below the first layer.
  __device__ __forceinline__ void begin_segment()
  {
    const bool last = s.last_x < cell0 + 16; // the last cell of the tile is one of this warp's
    first_closed = s.left_closed && cell0 == 0;
    ends_inside = last && (s.right_closed || s.partial);
    beside[0] = beside_y(false);
    beside[1] = beside_y(true);
    if constexpr (Tile::ample_registers)
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

  /// Traces in z on both sides of layer c, and its own at the top.
  __device__ __forceinline__ void begin_layer(int c)
  {
    traces_z(top, false, 0);
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
  __device__ __forceinline__ auto y_trace(int side, int block, int lines) const
  {
    return Tile::ample_registers ? held[side][block][lines]
                                 : weights.hold(W::y_trace(beside[side].left, block, lines));
  }
  __device__ __forceinline__ auto y_face(int lines, int tile) const
  {
    return weights.hold(W::y_face(0, lines, tile) + share * (line_tiles * tiles));
  }
  __device__ __forceinline__ void hold_weights()
  {
#pragma unroll
    for (int lines = 0; lines < line_tiles; ++lines)
    {
#pragma unroll
      for (int side = 0; side < 2; ++side)
#pragma unroll
        for (int block = 0; block < k_blocks; ++block)
          held[side][block][lines] = weights.hold(W::y_trace(beside[side].left, block, lines));
    }
  }

  /// What is read of src: own modes, those of the cells before (rows 0..7) and after them (rows 8..15), the rows of
  /// cells below and above.
  struct Plane
  {
    A u[x_blocks], around[x_blocks], rows[2][Tile::ample_registers ? k_blocks : 1];
  };
  using Accumulators = D[tiles];
  __device__ __forceinline__ void load(Plane &at, int k);
  __device__ __forceinline__ A load_row(int side, int block, int k) const
  {
    return load_cells((beside[side].in_halo ? shared.halo(halo.slot) : shared.own(own_slot(k))) +
        beside[side].at.of(block));
  }
  __device__ __forceinline__ void work_on_plane(int c, int k);
  __device__ __forceinline__ void add_x(Accumulators &sum, const Plane &at) const;
  __device__ __forceinline__ void add_y(Accumulators &sum, const Plane &at, int c, int k) const;
  __device__ __forceinline__ void add_z(Accumulators &sum, int k) const;
  __device__ __forceinline__ void write(const std::uint32_t (&halves)[2 * tiles]);
};
} // namespace tensormg::laplace::mma_layers
