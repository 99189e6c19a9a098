// What a computing warp of the tensor-core column kernel does in every form: takes planes from the rings, reads
// multiplicands, hands over results. See steps.cuh.
#pragma once

#include "kernels/laplace/mma_column/fragments.cuh"

namespace tensormg::laplace::mma_column
{
using march::Place;

template <typename Tile>
class Warp
{
protected:
  static constexpr int n = Tile::n, modes = Tile::modes, tiles = Tile::tiles;
  static constexpr int groups = Tile::groups, fragments = Tile::fragments;
  static constexpr int part_cells = 16 * fragments;
  static constexpr unsigned all = ~0u;

  const MmaColumnParameters<Tile> &p;
  const march::PlaneRings<Tile> &shared;
  const int lane, cy, cell0; ///< row of cells, first cell of this warp in it
  /// Bytes from the beginning of a slot: this lane's line of a row of cells.
  const int own_at, input_at;
  int beside_at;
  D sum[fragments][n][tiles];             ///< B u so far, or what takes its place
  pipeline::RingPosition<Tile::ring> own; ///< plane 0 of the current layer
  pipeline::RingPosition<Tile::input_ring> input;
  unsigned results = 0; ///< parity of the slots of results
  Place &s;             ///< in shared memory, so that it takes no registers
  bool last;            ///< the last cell of the tile belongs to this warp
  bool first_closed;    ///< left of its first cell is a Dirichlet or Neumann side
  bool right_closed;    ///< so is right of the last cell of the tile
  bool partial;         ///< the block ends before the last cell of the tile
  bool ends_inside;     ///< the last cell of this warp is followed by either
  int first_lane; ///< that has the traces of the cell before the first one, with the next three

  __device__ __forceinline__ Warp(
      const MmaColumnParameters<Tile> &p_, const march::PlaneRings<Tile> &shared_)
    : p(p_)
    , shared(shared_)
    , lane(threadIdx.x % 32)
    , cy(__shfl_sync(all, int(threadIdx.x) / 32, 0) / Tile::parts)
    , cell0(__shfl_sync(all, int(threadIdx.x) / 32, 0) % Tile::parts * part_cells)
    , own_at(line_at(cy + 1, cell0 + lane / 8 % 2 * 8))
    , input_at(line_at(cy, cell0 + lane / 8 % 2 * 8))
    , s(shared_.place(__shfl_sync(all, int(threadIdx.x) / 32, 0)))
  {}

  /// All segments of the block, layer by layer, by the steps of `cells`, which is this warp.
  template <typename Cells>
  __device__ __forceinline__ void march(Cells &cells)
  {
    Place here;
    for (int index = 0; march::place(p, index, here); ++index)
    {
      __syncwarp();
      s = here;
      __syncwarp();
      if (cy > s.last_y || cell0 > s.last_x)
      {
        pass_by();
        continue;
      }
      find_ends();
      cells.begin_segment();
      for (int c = s.z0; c < s.z1; ++c)
      {
        wait_layer();
        cells.begin_layer(c);
#pragma unroll
        for (int k = 0; k < n; ++k)
        {
          cells.add_plane(c, k);
          pipeline::arrive_to_overwrite(shared.own_empty(own_slot(k)));
        }
        advance();
      }
      cells.end_segment();
    }
  }

  /// It is never more than modes - 1; told so, the compiler keeps what follows from it instead of forming it again and again.
  __device__ __forceinline__ int mode_of_lane() const
  {
    return min(lane / 16 * 8 + lane % 8, modes - 1);
  }
  __device__ __forceinline__ int line_at(int row, int cell) const
  {
    return Rows::at(row * modes + mode_of_lane(), cell);
  }
  using Rows = SwizzledRows<Tile::row_bytes>;
  /// A plane in shared memory.
  struct Plane
  {
    const unsigned char *base;
    int flip; ///< of positions in rows of cells

    __device__ __forceinline__ A load(int at) const { return load_cells(base + (at ^ flip)); }
    /// Also from a box beside the tile, which is not permuted.
    __device__ __forceinline__ A load_beside(int at) const
    {
      return load_cells(base + (at < Tile::left_at ? at ^ flip : at));
    }
  };
  __device__ __forceinline__ int own_slot(int k) const
  {
    const int slot = own.slot + k;
    return slot < Tile::ring ? slot : slot - Tile::ring;
  }
  __device__ __forceinline__ Plane plane(int k) const
  {
    const int slot = own_slot(k);
    return {shared.base + slot * Tile::slot_bytes, slot % 2 * Rows::half_period};
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

  /// The plane of b (part 0) or old at hand.
  __device__ __forceinline__ const unsigned char *input_plane(int part) const
  {
    return shared.base + Tile::input_offset +
        (Tile::inputs * input.slot + part) * Tile::input_bytes;
  }
  __device__ __forceinline__ void wait_input() const
  {
    pipeline::wait(shared.input_full(input.slot), input.parity);
  }
  __device__ __forceinline__ void release_input()
  {
    pipeline::arrive_to_overwrite(shared.input_empty(input.slot));
    input.advance();
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
  /// Puts the sums of plane k in fragment f, times factor(tile) for the two modes of a lane, where the copy engine takes
  /// them from, which writes whole rows of the tile.
  template <typename Factor>
  __device__ __forceinline__ void put(int f, int k, const Factor &factor) const
  {
    std::uint32_t out[2 * tiles];
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
    {
      const D &sums = sum[f][k][tile];
      const float2 by = factor(tile);
      out[2 * tile] = mma::to_halves(by.x * sums.registers[0], by.y * sums.registers[1]);
      out[2 * tile + 1] = mma::to_halves(by.x * sums.registers[2], by.y * sums.registers[3]);
      if (partial)
      {
        // Padding is zero in src and stays zero in dst.
        const int cell = cell0 + 16 * f + lane / 4;
        out[2 * tile] = cell <= s.last_x ? out[2 * tile] : 0;
        out[2 * tile + 1] = cell + 8 <= s.last_x ? out[2 * tile + 1] : 0;
      }
    }
    mma::stmatrix_transposed(out, shared.result(k) + (input_at ^ 32 * f));
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
      for (int k = 0; k < n; ++k)
      {
        wait_input();
        release_input();
      }
      wait_results();
      hand_over_results();
    }
  }

  /// Where the rows of this warp end.
  __device__ __forceinline__ void find_ends()
  {
    last = s.last_x < cell0 + part_cells;
    first_closed = s.left_closed && cell0 == 0;
    right_closed = s.right_closed;
    partial = s.partial;
    ends_inside = last && (right_closed || partial);
    first_lane = cell0 == 0 ? 4 * s.left_cell : 28;
    // The cells beside this warp's: from a box beside the tile, or from the row itself.
    const bool right = lane / 8 % 2 == 1;
    beside_at = line_at(cy + 1, right ? cell0 + part_cells : cell0 - 8);
    if (right ? last : cell0 == 0)
      beside_at = (right ? Tile::right_at : Tile::left_at) + 16 * (cy * modes + mode_of_lane());
  }

  /// Lines 4 group .. 4 group + 3 of the layer in z, at the cells of fragment f.
  __device__ __forceinline__ A load_lines_z(int f, int group) const
  {
    // Slot of the multiplicand: mode k = at / 4 of line at % 4.
    const int at = mode_of_lane(), line = (cy + 1) * modes + 4 * group + at % 4;
    return plane(at / 4).load(Rows::at(line, cell0 + 16 * f + lane / 8 % 2 * 8));
  }

  /// Traces of the eight lines in z of a tile.
  __device__ __forceinline__ static A at_one_side(const Traces (&of_group)[groups], int tile)
  {
    return both(of_group[2 * tile], of_group[2 * tile + 1]);
  }

  /// Value and half derivative of a ghost: `line` of `lines`, mode i, of fragment f, as accumulators.
  __device__ __forceinline__ D ghost(
      int side, std::int64_t lines, std::int64_t line, int i, int f) const
  {
    const int cell = cell0 + 16 * f + lane / 4;
    const float *from = p.ghost[side] + line * p.block.row() + i * p.block.pitch + s.x0 + cell;
    const float *derivative = from + lines * p.block.row();
    D traces{};
    if (cell <= s.last_x)
    {
      traces.registers[0] = from[0];
      traces.registers[1] = derivative[0];
    }
    if (cell + 8 <= s.last_x)
    {
      traces.registers[2] = from[8];
      traces.registers[3] = derivative[8];
    }
    return traces;
  }
  __device__ __forceinline__ D ghost_z(int side, int f, int group) const
  {
    const int mode = 4 * group + lane % 4;
    return ghost(side, p.block.rows_per_plane(), (s.y0 + cy) * n + mode / n, mode % n, f);
  }
  __device__ __forceinline__ D ghost_y(int side, int plane, int f) const
  {
    return ghost(side, p.block.planes(), plane, lane % 4, f);
  }
};
} // namespace tensormg::laplace::mma_column
