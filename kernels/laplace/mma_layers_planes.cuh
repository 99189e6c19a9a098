// What a plane consists of in the tensor-core layer kernel: sums that become traces, their way to the neighbours, sums
// of faces. See mma_layers.cuh.
#pragma once

#include "kernels/laplace/mma_layers_traces.cuh"

namespace tensormg::laplace::mma_layers
{
/// Reads own modes in plane k of the layer, and those of the cells before (rows 0..7) and after them (rows 8..15).
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::read(
    A (&u)[x_blocks], A (&around)[x_blocks], int k) const
{
  const unsigned char *const own_plane = shared.own(own_slot(k));
  const unsigned char *const beside_plane = beside_in_halo ? shared.halo(halo.slot) : own_plane;
#pragma unroll
  for (int block = 0; block < x_blocks; ++block)
    u[block] = load_cells(own_plane + own_at.of(block));
#pragma unroll
  for (int block = 0; block < x_blocks; ++block)
    around[block] = load_cells(beside_plane + beside_at[block]);
}

template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::multiply_x(
    SumsX &x, const A (&u)[x_blocks], const A (&around)[x_blocks]) const
{
#pragma unroll
  for (int block = 0; block < x_blocks; ++block)
#pragma unroll
    for (int pair = 0; pair < Tile::pairs; ++pair)
      if (W::overlap(16 * block, 16, pair))
      {
        const auto ends = x_trace(block, pair);
        add_numbers(x.own[pair], u[block], ends.part);
        add_numbers(x.outside[pair], around[block], ends.part);
      }
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
      const Trace own = Trace(sums[side][lines]).flipped(beside[side].flip);
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
#pragma unroll
  for (int pair = 0; pair < Tile::pairs; ++pair)
  {
    const Trace own(sums.own[pair]), outside(sums.outside[pair]);
#pragma unroll
    for (int part = 0; part < Tile::parts; ++part)
    {
      const std::uint32_t at_end = ends_low.of(own.low[part], own.high[part]);
      const std::uint32_t low = __shfl_sync(all, own.low[part], from);
      const std::uint32_t high = __shfl_sync(all, own.high[part], from);
      const std::uint32_t before = left_end.flip ^
          __shfl_sync(all, left_closed.of(own.low[part], outside.low[part]), left_end.from);
      const std::uint32_t after = right_end.flip ^
          __shfl_sync(all, right_closed.of(at_end, outside.high[part]), right_end.from);
      faces[pair].low[part] = first_row.of(before, low_ends.of(after, last_row.of(high, low)));
      faces[pair].high[part] = first_row.of(low, high_ends.of(after, high));
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
      if (W::overlap(8 * tile, 8, pair))
        add_traces(sum[tile], faces[pair], x_face(pair, tile).part);
}

/// Faces in y.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_y(
    Accumulators &sum, const Trace (&faces)[2][line_tiles]) const
{
#pragma unroll
  for (int lines = 0; lines < line_tiles; ++lines)
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
      add_traces(sum[tile], faces[0][lines], faces[1][lines], y_face(lines, tile).part);
}

/// D u: products with diagonal matrices, weights in two parts.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_diagonal(
    Accumulators &sum, const A (&u)[x_blocks], int k) const
{
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
  {
    const uint2 both = weights.diagonal(share, k, tile);
    const SmallA modes{
        {u[tile / 2].registers[tile % 2 * 2], u[tile / 2].registers[tile % 2 * 2 + 1]}};
    add_small(sum[tile], [&](mma::FragmentC<SmallShape> &same) {
      mma::mma_sync(same, modes, SmallB{{both.x}});
      mma::mma_sync(same, modes, SmallB{{both.y}});
    });
  }
}

/// Faces in z.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_z(
    Accumulators &sum, int k, const FacesZ &faces) const
{
  const auto of_k = weights.hold_z_face(k);
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
      b[block] = load_cells(shared.input(input.slot, 0) + own_at.of(block));
      if constexpr (form == Form::chebyshev)
        old[block] = p.has_old ? load_cells(shared.input(input.slot, 1) + own_at.of(block)) : A{};
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
