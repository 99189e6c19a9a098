// The lanes that own cells: see column.cuh. What they hold, the order of their steps and the faces in z;
// those in x and y are in faces.cuh.
#pragma once

#include "kernels/laplace/column/column.cuh"
#include "kernels/laplace/column/lines.cuh"

namespace tensormg::laplace::column
{
template <typename Tile, Form form>
class Cells
{
  using Number = typename Tile::Number;
  using C = typename Tile::C;
  static constexpr int n = Tile::n, width = Tile::width;
  using V = Pack<C, width>;
  using Trace = column::Trace<V, n == 2>;
  using LineSums = column::ScaledSums<V, n == 2>;
  using Faces = column::Faces<V, n == 2>;
  static constexpr int mode_x = Tile::cells_x; ///< numbers between modes in x in a plane
  static constexpr int mode_y = mode_x * n;    ///< between modes in y
  static constexpr int row_y = mode_y * n;     ///< between rows of cells

  const LaneParameters<Tile> &p;
  const Shared<Tile> &shared;
  const int lane, cy;                     ///< cy: row of cells, which is the warp
  const int own_at;                       ///< first number of this lane in a plane, modes i = j = 0
  V sum[n][n][n];                         ///< [k][j][i]: B u so far, or what takes its place
  Carry<Tile> carry;                      ///< traces at the top of the layer below
  pipeline::RingPosition<Tile::ring> own; ///< plane 0 of the current layer
  pipeline::RingPosition<Tile::input_ring == 0 ? 1 : Tile::input_ring> input;
  march::Place s;
  Number *dst; ///< first number of this lane in the first plane of the block
  bool stores; ///< this row and pack are part of the block
  int edge_at; ///< where the line beside the row that this lane sums begins in a slot
  C edge_sign; ///< of what lies behind a closed side in x; otherwise 1

public:
  __device__ __forceinline__ Cells(const LaneParameters<Tile> &p_, const Shared<Tile> &shared_)
    : p(p_)
    , shared(shared_)
    , lane(threadIdx.x % 32)
    , cy(__shfl_sync(
          ~0u, int(threadIdx.x) / 32, 0)) // the same in all lanes, for the compiler to see
    , own_at((cy + 1) * row_y + lane * width)
    , carry(shared_.parking(cy), lane)
  {}

  __device__ __forceinline__ void run()
  {
    for (int index = 0; march::place(p, index, s); ++index)
    {
      if (cy > s.last_y)
      {
        pass_by();
        continue;
      }
      begin_segment();
      for (int c = s.z0; c < s.z1; ++c)
      {
        wait_layer();
        sum_edges();
        begin_layer(c);
        if (s.lower_end && cy == 0)
          fill_row(false, c);
        if (s.upper_end && cy == s.last_y)
          fill_row(true, c);
#pragma unroll
        for (int k = 0; k < n; ++k)
        {
          const Number *plane = shared.own(own_slot(k)) + own_at;
          add_faces_y(k, plane);
          if constexpr (!Tile::loads_once)
#pragma unroll
            for (int j = 0; j < n; ++j)
            {
              V u[n];
#pragma unroll
              for (int i = 0; i < n; ++i)
                u[i] = load(plane, j, i);
              add_faces_x(k, j, u);
            }
          if constexpr (form != Form::apply)
            add_input(k);
          pipeline::arrive_to_overwrite(shared.own_empty(own_slot(k)));
        }
        advance();
      }
      end_segment();
    }
    if constexpr (Tile::staged > 0)
      pipeline::wait_stores_read(); // before shared memory is given back
  }

private:
  __device__ __forceinline__ int own_slot(int k) const
  {
    const int slot = own.slot + k;
    return Tile::whole_layers || slot < Tile::ring ? slot : slot - Tile::ring;
  }
  __device__ __forceinline__ void wait_layer() const
  {
#pragma unroll
    for (int k = 0; k < n; ++k)
    {
      const bool next = !Tile::whole_layers && own.slot + k >= Tile::ring;
      pipeline::wait(shared.own_full(own_slot(k)), own.parity ^ unsigned(next));
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

  /// A row of cells outside of the block: takes from the rings what the other warps take, in their order.
  __device__ __forceinline__ void pass_by()
  {
    for (int c = s.z0 - s.before; c < s.z1 + s.after; ++c)
    {
      wait_layer();
      release_layer();
      if constexpr (form != Form::apply)
        for (int k = 0; k < n && c >= s.z0 && c < s.z1; ++k)
        {
          pipeline::wait(shared.input_full(input.slot), input.parity);
          pipeline::arrive_to_overwrite(shared.input_empty(input.slot));
          input.advance();
        }
    }
  }

  __device__ __forceinline__ V load(const Number *plane, int j, int i) const
  {
    return load_pack<width>(plane + j * mode_y + i * mode_x);
  }

  /// Line (j, i) of the layer in z.
  __device__ __forceinline__ LineSums sums_z(int j, int i) const
  {
    LineSums sums;
#pragma unroll
    for (int k = 0; k < n; ++k)
      sums.add(k, p, load(shared.own(own_slot(k)) + own_at, j, i));
    return sums;
  }

  /// What lies behind a Dirichlet or Neumann side, from the own traces there.
  __device__ __forceinline__ Trace behind(int side, const Trace &inside) const
  {
    const C sign = value_reflection<C>(p.sides[side]);
    return {sign * inside.v, -sign * inside.d};
  }

  /// Values of this lane's cells from `from` on, derivatives `derivatives` numbers further; padding is ignored.
  __device__ __forceinline__ Trace ghost_from(const C *from, std::int64_t derivatives) const
  {
    Trace result;
#pragma unroll
    for (int w = 0; w < width; ++w)
    {
      const bool there = lane * width + w <= s.last_x;
      result.v.at[w] = there ? p.unit_v * from[w] : C(0);
      result.d.at[w] = there ? p.unit_h * from[derivatives + w] : C(0);
    }
    return result;
  }
  __device__ __forceinline__ Trace ghost_at(
      int side, std::int64_t lines, std::int64_t line, int i) const
  {
    const Block &block = p.block;
    return ghost_from(p.ghost[side] + line * block.row() + i * block.pitch + s.x0 + lane * width,
        lines * block.row());
  }
  __device__ __forceinline__ Trace ghost_z(int side, int j, int i) const
  {
    const Trace ghost = ghost_at(side, p.block.rows_per_plane(), (s.y0 + cy) * n + j, i);
    if constexpr (n == 2)
      return {mode_of_ghost(0, side == 5, ghost), mode_of_ghost(1, side == 5, ghost)};
    else
      return ghost;
  }
  /// The first two modes of a cell that has the traces of a ghost at its near end: for the cell below, the right one,
  /// v_0 a + v_1 b = V and h_0 a + h_1 b = D.
  __device__ __forceinline__ V mode_of_ghost(int mode, bool upper, const Trace &ghost) const
  {
    const C sign = upper ? C(-1) : C(1);
    return mode == 0 ? (p.inverse * p.h[1]) * ghost.v - (sign * p.inverse * p.v[1]) * ghost.d
                     : (p.inverse * p.v[0]) * ghost.d - (sign * p.inverse * p.h[0]) * ghost.v;
  }

  /// The traces below the first layer.
  __device__ __forceinline__ void begin_segment()
  {
    dst = p.dst + std::int64_t(s.y0 + cy) * n * p.row + s.x0 + lane * width;
    stores = s.x0 + lane * width < p.block.pitch;
    find_edge();
    const bool ghost = !s.before && p.sides[4] == Side::ghost;
    if (!ghost)
      wait_layer();
#pragma unroll
    for (int j = 0; j < n; ++j)
#pragma unroll
      for (int i = 0; i < n; ++i)
      {
        if (ghost)
          carry.put(j, i, ghost_z(4, j, i));
        else
        {
          const LineSums sums = sums_z(j, i);
          carry.put(j, i, s.before ? sums.upper(p) : behind(4, sums.lower(p)));
        }
#pragma unroll
        for (int k = 0; k < n; ++k)
          sum[k][j][i] = V(C(0));
      }
    if (s.before)
      release_layer();
  }

  /// Finishes layer c - 1 and starts layer c with the faces in x and the lower ones in z. Where there is no layer before,
  /// its sums are something that nobody stores: without a branch the lines are one piece of code.
  __device__ __forceinline__ void begin_layer(int c)
  {
    const Number *plane[n];
#pragma unroll
    for (int k = 0; k < n; ++k)
      plane[k] = shared.own(own_slot(k)) + own_at;
    Number *to = dst + std::int64_t(c - 1) * n * p.plane;
#pragma unroll
    for (int j = 0; j < n; ++j, to += p.row - n * p.block.pitch)
    {
      wait_staged(j);
      V u[n][n]; // [k][i]
#pragma unroll
      for (int k = 0; k < n; ++k)
#pragma unroll
        for (int i = 0; i < n; ++i)
          u[k][i] = load(plane[k], j, i);
#pragma unroll
      for (int i = 0; i < n; ++i, to += p.block.pitch)
      {
        LineSums sums;
#pragma unroll
        for (int k = 0; k < n; ++k)
          sums.add(k, p, u[k][i]);
        finish(to, j, i, sums.lower(p), c > s.z0);
        const Trace below = carry.get(j, i);
        carry.put(j, i, sums.upper(p));
#pragma unroll
        for (int k = 0; k < n; ++k)
        {
          sum[k][j][i] = p.diagonal[k][j][i] * u[k][i];
          add_face<false>(sum[k][j][i], p, 2, k, below);
        }
      }
      if constexpr (Tile::loads_once)
#pragma unroll
        for (int k = 0; k < n; ++k)
          add_faces_x(k, j, u[k]);
      if (c > s.z0)
        store_staged(c - 1, j);
    }
  }

  /// The slot for mode j of the results may be written.
  __device__ __forceinline__ void wait_staged(int j) const
  {
    constexpr int slots = Tile::staged;
    if (slots == 0 || (j > 0 && j < slots))
      return;
    if (lane == 0)
    {
      if (j == 0)
        pipeline::wait_stores_read();
      else
        pipeline::wait_stores_read<(slots > 0 ? slots - 1 : 0)>();
    }
    __syncwarp();
  }
  /// Has the results of mode j in layer c written, n modes k and i of the row at a time.
  __device__ __forceinline__ void store_staged(int c, int j) const
  {
    if constexpr (Tile::staged > 0)
    {
      pipeline::fence_copies();
      __syncwarp();
      if (lane == 0)
        pipeline::store_box(
            &p.result, shared.staged(cy, j % Tile::staged), s.x0, 0, (s.y0 + cy) * n + j, c * n);
    }
  }
  /// Adds the upper faces of line (j, i) of a layer and writes it, or puts it where the copy engine takes it from.
  __device__ __forceinline__ void finish(
      Number *to, int j, int i, const Trace &above, bool is_layer)
  {
#pragma unroll
    for (int k = 0; k < n; ++k)
    {
      V result = sum[k][j][i];
      add_face<true>(result, p, 2, k, above);
      if constexpr (form == Form::chebyshev)
        result = p.factor[k][j][i] * result;
      if constexpr (Tile::staged > 0)
        write_rounded(
            shared.staged(cy, j % Tile::staged) + (k * n + i) * mode_x + lane * width, result);
      else if (stores && is_layer)
        store_pack(to + k * p.plane, result);
    }
  }

  /// Finishes the last layer.
  __device__ __forceinline__ void end_segment()
  {
    if (s.after)
      wait_layer();
    Number *to = dst + std::int64_t(s.z1 - 1) * n * p.plane;
#pragma unroll
    for (int j = 0; j < n; ++j, to += p.row - n * p.block.pitch)
    {
      wait_staged(j);
#pragma unroll
      for (int i = 0; i < n; ++i, to += p.block.pitch)
      {
        Trace above;
        if (s.after)
          above = sums_z(j, i).lower(p);
        else if (p.sides[5] == Side::ghost)
          above = ghost_z(5, j, i);
        else
          above = behind(5, carry.get(j, i));
        finish(to, j, i, above, true);
      }
      store_staged(s.z1 - 1, j);
    }
    if (s.after)
      release_layer();
  }

  __device__ __forceinline__ void find_edge();
  __device__ __forceinline__ void sum_edges();
  __device__ __forceinline__ void fill_row(bool upper, int c);
  __device__ __forceinline__ void add_ghosts_y(bool upper, int c);
  __device__ __forceinline__ void fill_row_with_ghost(bool upper, int c) const;
  __device__ __forceinline__ void add_faces_x(int k, int j, const V (&u)[n]);
  __device__ __forceinline__ void add_faces_y(int k, const Number *plane);
  __device__ __forceinline__ void add_input(int k);
  __device__ __forceinline__ Faces couple(
      int k, int j, const Trace &left, const Trace &right) const;
  __device__ __forceinline__ V input_at(int part, int j, int i) const
  {
    return load(shared.input(input.slot, part) + (own_at - row_y), j, i);
  }
};
} // namespace tensormg::laplace::column
