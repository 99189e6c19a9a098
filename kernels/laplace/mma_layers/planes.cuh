// What a plane consists of in the tensor-core layer kernel: sums that become traces, their way to the neighbours, sums
// of faces. See mma_layers.cuh.
#pragma once

#include "kernels/laplace/mma_layers/traces.cuh"

namespace tensormg::laplace::mma_layers
{
/// Weights that stay in registers from the start.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::hold_all()
{
#pragma unroll
  for (int block = 0; block < Tile::end_blocks; ++block)
    held_ends[block] = weights.hold_ends(block);
#pragma unroll
  for (int pair = 0; pair < Tile::pairs; ++pair)
  {
#pragma unroll
    for (int block = 0; block < x_blocks; ++block)
      held_x_trace[block][pair] = weights.hold_once(W::x_trace(block, pair));
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
      held_x_face[pair][tile] = weights.hold_x_face(pair, tile);
  }
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
  {
    if constexpr (Own::by_parity)
      held_joined_y_face[tile] = weights.hold_y_face(share, tile);
    else
#pragma unroll
      for (int lines = 0; lines < y_tiles; ++lines)
        held_y_face[lines][tile] =
            weights.hold_once(W::y_face(0, lines, tile) + share * (y_tiles * tiles));
  }
}

/// Reads own modes in plane k of the layer, and those of the cells before and after them.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::read(A (&u)[x_blocks], Ends &ends, int k) const
{
  const int own_plane = Shared<Tile>::own_at(own_slot(k));
#pragma unroll
  for (int block = 0; block < x_blocks; ++block)
    u[block] = load_cells(own_at.of(block) + own_plane);
#pragma unroll
  for (int side = 0; side < 2; ++side)
  {
    const int plane = end_in_halo[side] ? Shared<Tile>::halo_at(halo.slot) : own_plane;
    std::uint32_t modes_of_line[Tile::end_words];
#pragma unroll
    for (int word = 0; word < Tile::end_words; ++word)
      modes_of_line[word] = read_16_bits(ends_at[side][word] + plane);
#pragma unroll
    for (int block = 0; block < Tile::end_blocks; ++block)
      ends[block].registers[side] = 2 * block + 1 < Tile::end_words
          ? modes_of_line[2 * block] | modes_of_line[2 * block + 1] << 16
          : modes_of_line[2 * block];
  }
}

template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::multiply_x(
    SumsX &x, const A (&u)[x_blocks], const Ends &ends) const
{
#pragma unroll
  for (int block = 0; block < Tile::end_blocks; ++block)
    add_numbers(x.ends, ends[block], ends_trace(block).part);
#pragma unroll
  for (int block = 0; block < x_blocks; ++block)
#pragma unroll
    for (int pair = 0; pair < Tile::pairs; ++pair)
      if (Own::overlap(16 * block, 16, pair))
        add_numbers(x.own[pair], u[block], x_trace(block, pair).part);
}

/// The rows of cells below and above.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::multiply_y(SumsY &y, int k) const
{
#pragma unroll
  for (int block = 0; block < y_blocks; ++block)
#pragma unroll
    for (int side = 0; side < 2; ++side)
      add_numbers(y[side][Tile::shares_y ? 0 : Lines::tile_of(block)], load_row(side, block, k),
          y_trace(side, block).part);
}

/// Traces beside own lines in y, or those that this warp forms for all of its strip.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::hand_over_y(TracesY &faces, const SumsY &sums)
{
#pragma unroll
  for (int side = 0; side < 2; ++side)
#pragma unroll
    for (int lines = 0; lines < own_line_tiles; ++lines)
    {
      Trace own(sums[side][lines]);
      if constexpr (!Tile::holds_weights) // their signs are those of the weights otherwise
        own = own.flipped(beside[side].flip);
      if constexpr (Tile::shares_y)
        *reinterpret_cast<Trace *>(shared.mail(strip, mail_out.slot, side, share)) = own;
      else
        faces[side][lines] = own;
    }
  if constexpr (Tile::shares_y)
  {
    pipeline::arrive(shared.mailed(strip, mail_out.slot));
    mail_out.advance();
  }
}

/// What the warps of a strip have handed over. When one of them writes there again, all have arrived at the plane between,
/// and have read this one before.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::take_y(TracesY &faces)
{
  if constexpr (Tile::shares_y)
  {
    if constexpr (!Tile::overlaps) // with the other barriers of the plane otherwise
      pipeline::wait(shared.mailed(strip, mail_in.slot), mail_in.parity);
#pragma unroll
    for (int side = 0; side < 2; ++side)
#pragma unroll
      for (int lines = 0; lines < line_tiles; ++lines)
        faces[side][lines] =
            *reinterpret_cast<const Trace *>(shared.mail(strip, mail_in.slot, side, lines));
    mail_in.advance();
  }
}

/// Traces beside own lines in x, from those of the cells before and after.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::exchange_x(
    Trace (&faces)[Tile::pairs], const SumsX &sums) const
{
  // Lanes with t = lane % 4 < 2 hold right ends of lines, which the next cell, one row further, wants below its own;
  // the others left ends, which the cell before wants above.
  const bool of_right_end = lane % 4 < 2;
  const int from = of_right_end ? (lane + 28) % 32 : (lane + 4) % 32;
  // Of the cell before lanes with an even t hold the traces of line lane / 4, of the one after the others.
  const Trace ends(sums.ends);
#pragma unroll
  for (int pair = 0; pair < Tile::pairs; ++pair)
  {
    const Trace own(sums.own[pair]);
#pragma unroll
    for (int part = 0; part < Tile::parts; ++part)
    {
      const std::uint32_t low = __shfl_sync(all, own.low[part], from);
      const std::uint32_t high = __shfl_sync(all, own.high[part], from);
      const std::uint32_t end =
          __shfl_sync(all, lane % 2 == 0 ? ends.low[part] : ends.high[part], ends_from + 8 * pair);
      faces[pair].low[part] = low_ends.of(end, last_row.of(high, low));
      faces[pair].high[part] = high_ends.of(end, first_row.of(low, high));
    }
  }
}

/// Faces in x.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_x(
    Accumulators &sum, const Trace (&faces)[Tile::pairs]) const
{
#pragma unroll
  for (int pair = 0; pair < Tile::pairs; ++pair)
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
      if (Own::overlap(8 * tile, 8, pair))
        add_traces(sum[tile], faces[pair], x_face(pair, tile).part);
}

/// Faces in y.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_y(
    Accumulators &sum, const Trace (&faces)[2][line_tiles]) const
{
  if constexpr (Own::by_parity)
  {
#pragma unroll
    for (int lines = 0; lines < line_tiles; ++lines)
    {
      const Trace joined = faces[0][lines].joined(faces[1][lines], share == 0);
#pragma unroll
      for (int tile = lines; tile < tiles; tile += line_tiles)
        add_traces(sum[tile], joined, joined_y_face(tile).part);
    }
  }
  else if constexpr (Tile::joins_y)
  {
    static_assert(
        line_tiles == 2 && Tile::lines % 2 == 0, "a tile is a line, even if its number is");
#pragma unroll
    for (int parity = 0; parity < 2; ++parity)
    {
      const Trace first = faces[0][0].joined(faces[1][0], parity == 0);
      const Trace second = faces[0][1].joined(faces[1][1], parity == 0);
#pragma unroll
      for (int tile = parity; tile < tiles; tile += 2)
        add_traces(sum[tile], first, second, y_face(0, tile).part);
    }
  }
  else
  {
#pragma unroll
    for (int lines = 0; lines < line_tiles; ++lines)
#pragma unroll
      for (int tile = 0; tile < tiles; ++tile)
        add_traces(sum[tile], faces[0][lines], faces[1][lines], y_face(lines, tile).part);
  }
}

/// D u: products with diagonal matrices, weights in two parts.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_diagonal(
    Accumulators &sum, const A (&u)[x_blocks], int k) const
{
#pragma unroll
  for (int pair = 0; pair < Tile::tile_pairs; ++pair)
  {
    const uint4 words = weights.diagonal(share, k, pair);
    const std::uint32_t parts_of[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int second = 0; second < 2 && 2 * pair + second < tiles; ++second)
    {
      const SmallA modes{{u[pair].registers[2 * second], u[pair].registers[2 * second + 1]}};
      add_small(sum[2 * pair + second], [&](mma::FragmentC<SmallShape> &same) {
        mma::mma_sync(same, modes, SmallB{{parts_of[2 * second]}});
        mma::mma_sync(same, modes, SmallB{{parts_of[2 * second + 1]}});
      });
    }
  }
}

/// Faces in z.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_z(
    Accumulators &sum, int k, const FacesZ &faces) const
{
  const auto of_k = weights.hold_z_face(z_face_words, k);
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
  {
    // Without a second group of lines its weights meet the first one's traces, in columns that are not written.
    constexpr int g = groups;
    const int second = 2 * tile + 1 < g ? 2 * tile + 1 : 2 * tile;
    add_traces(sum[tile], faces.of[2 * tile], faces.of[second], of_k.part);
  }
}

template <typename Tile, Form form>
template <int blocks_b, int blocks_old>
__device__ __forceinline__ void Cells<Tile, form>::read_input(
    A (&b)[blocks_b], A (&old)[blocks_old]) const
{
  if constexpr (form != Form::apply)
#pragma unroll
    for (int block = 0; block < x_blocks; ++block)
    {
      b[block] = load_cells(own_at.of(block) + Shared<Tile>::input_at(input.slot, 0));
      if constexpr (form == Form::chebyshev)
        old[block] =
            p.has_old ? load_cells(own_at.of(block) + Shared<Tile>::input_at(input.slot, 1)) : A{};
    }
}

template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::take_ghosts(TracesY &faces, int plane) const
{
  if (beside[0].ghost || beside[1].ghost)
#pragma unroll
    for (int side = 0; side < 2; ++side)
#pragma unroll
      for (int lines = 0; lines < line_tiles; ++lines)
        if (beside[side].ghost)
          faces[side][lines] = ghost_y(2 + side, plane, lines);
}
} // namespace tensormg::laplace::mma_layers
