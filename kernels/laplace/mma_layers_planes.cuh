// One plane in the tensor-core layer kernel, and the kernel: see mma_layers.cuh.
#pragma once

#include "kernels/core/shared_memory.cuh"
#include "kernels/laplace/mma_layers_cells.cuh"

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
        const auto ends = weights.hold(W::x_trace(block, pair));
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
      add_numbers(
          y[side][Lines::tile_of(block)], load_row(side, block, k), y_trace(side, block).part);
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
  const bool first_row = of_right_end && lane < 4, last_row = !of_right_end && lane >= 28;
  const bool low_ends = !of_right_end && lane / 4 == last_cell;
  const bool high_ends = !of_right_end && lane / 4 + 8 == last_cell;
#pragma unroll
  for (int pair = 0; pair < Tile::pairs; ++pair)
  {
    const Trace own(sums.own[pair]), outside(sums.outside[pair]);
#pragma unroll
    for (int part = 0; part < Tile::parts; ++part)
    {
      const std::uint32_t at_end = last_cell < 8 ? own.low[part] : own.high[part];
      const std::uint32_t low = __shfl_sync(all, own.low[part], from);
      const std::uint32_t high = __shfl_sync(all, own.high[part], from);
      const std::uint32_t before = left_end.flip ^
          __shfl_sync(all, left_end.closed ? own.low[part] : outside.low[part], left_end.from);
      const std::uint32_t after = right_end.flip ^
          __shfl_sync(all, right_end.closed ? at_end : outside.high[part], right_end.from);
      faces[pair].low[part] = first_row ? before : low_ends ? after : last_row ? high : low;
      faces[pair].high[part] = first_row ? low : high_ends ? after : high;
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
        add_traces(sum[tile], faces[pair], weights.hold_x_face(pair, tile).part);
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

/// Faces in z.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_z(Accumulators &sum, int k) const
{
  const auto of_below = weights.hold_z_face(k, false);
  const auto of_above = weights.hold_z_face(k, true);
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
  {
    // Without a second group of lines its weights meet the first one's traces, in columns that are not written.
    constexpr int g = groups;
    const int second = 2 * tile + 1 < g ? 2 * tile + 1 : 2 * tile;
    add_traces(sum[tile], below[2 * tile], below[second], of_below.part);
    add_traces(sum[tile], above[2 * tile], above[second], of_above.part);
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

/// Finishes plane k of the layer, whose traces are known, and forms those of plane k + 1; both at once, so that the one
/// goes on while the other waits for products, shared memory or shuffles.
template <typename Tile, Form form>
template <bool finishes, bool begins>
__device__ __forceinline__ void Cells<Tile, form>::work(Plane &at, Plane &next, int k)
{
  if constexpr (begins)
    pipeline::wait(shared.halo_full(halo.slot), halo.parity);
  if constexpr (finishes)
    wait_input();
  A around[x_blocks];
  if constexpr (begins)
    read(next.u, around, k + 1);
  Accumulators sum = {};
  if constexpr (finishes)
  {
    add_z(sum, k);
    add_y(sum, at.y);
    add_x(sum, at.x);
  }
  SumsX x{};
  SumsY y{};
  if constexpr (begins)
  {
    multiply_x(x, next.u, around);
    multiply_y(y, k + 1);
  }
  A b[form == Form::apply ? 1 : x_blocks], old[form == Form::chebyshev ? x_blocks : 1];
  if constexpr (finishes)
    read_input(b, old);
  if constexpr (begins)
  {
    exchange_x(next.x, x);
#pragma unroll
    for (int side = 0; side < 2; ++side)
#pragma unroll
      for (int lines = 0; lines < line_tiles; ++lines)
        next.y[side][lines] = Trace(y[side][lines]).flipped(beside[side].flip);
  }
  if constexpr (finishes)
    write(sum, at.u, b, old, k);
  pipeline::fence_copies();
  if constexpr (begins)
  {
    pipeline::arrive(shared.own_empty(own_slot(k + 1)));
    release_halo();
  }
  if constexpr (finishes)
    hand_over_result();
}

template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_ghosts(Plane &at, int plane) const
{
  if (beside[0].ghost || beside[1].ghost)
#pragma unroll
    for (int side = 0; side < 2; ++side)
#pragma unroll
      for (int lines = 0; lines < line_tiles; ++lines)
        if (beside[side].ghost)
          at.y[side][lines] = ghost_y(2 + side, plane, lines);
}

template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::work_on_layer(int c)
{
  traces_z(top, false, 0);
  Plane at, next;
  if constexpr (Tile::overlaps)
  {
    work<false, true>(next, at, -1);
    close_above(c);
    add_ghosts(at, c * n);
#pragma unroll 1
    for (int k = 0; k + 1 < n; ++k)
    {
      work<true, true>(at, next, k);
      add_ghosts(next, c * n + k + 1);
      at = next;
    }
    work<true, false>(at, next, n - 1);
  }
  else
  {
    close_above(c);
#pragma unroll 1
    for (int k = 0; k < n; ++k)
    {
      work<false, true>(next, at, k - 1);
      add_ghosts(at, c * n + k);
      work<true, false>(at, next, k);
    }
  }
}

/// The sums of the faces, diagonal, b and old: to where b was, which this warp alone has read.
template <typename Tile, Form form>
template <int blocks_b, int blocks_old>
__device__ __forceinline__ void Cells<Tile, form>::write(const Accumulators &sum,
    const A (&u)[x_blocks], const A (&b)[blocks_b], const A (&old)[blocks_old], int k) const
{
  const float of_k = p.lambda[2][k];
  std::uint32_t halves[2 * tiles];
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
  {
    const float2 d{diagonal[tile].x + of_k, diagonal[tile].y + of_k};
#pragma unroll
    for (int high = 0; high < 2; ++high)
    {
      const int r = tile % 2 * 2 + high;
      const float2 v = to_floats(u[tile / 2].registers[r]);
      // In the fused forms the sums have the other sign.
      float2 faces{
          p.scale * sum[tile].registers[2 * high], p.scale * sum[tile].registers[2 * high + 1]};
      float2 result;
      if constexpr (form == Form::apply)
        result = {fmaf(d.x, v.x, faces.x), fmaf(d.y, v.y, faces.y)};
      else
      {
        const float2 right = to_floats(b[tile / 2].registers[r]);
        result = {faces.x + right.x, faces.y + right.y};
        if constexpr (form == Form::residual)
          result = {fmaf(-d.x, v.x, result.x), fmaf(-d.y, v.y, result.y)};
        else
        {
          const float2 before = to_floats(old[tile / 2].registers[r]);
          result = {fmaf(p.alpha * mma::reciprocal(d.x), result.x, p.u_factor * v.x),
              fmaf(p.alpha * mma::reciprocal(d.y), result.y, p.u_factor * v.y)};
          result = {fmaf(-p.theta, before.x, result.x), fmaf(-p.theta, before.y, result.y)};
        }
      }
      halves[2 * tile + high] = mma::to_halves(result.x, result.y);
      if (s.partial && cell0 + 8 * high + lane / 4 > s.last_x)
        halves[2 * tile + high] = 0; // padding is zero in src and stays zero in dst
    }
  }
  unsigned char *const to = shared.input(input.slot, 0);
  const int last_line = 16 * (x_blocks - 1) + lane / 16 * 8 + lane % 8;
  const bool is_own = last_line < Tile::own_modes && first_mode + last_line < modes;
#pragma unroll
  for (int block = 0; block < x_blocks; ++block)
  {
    std::uint32_t four[4] = {0, 0, 0, 0};
#pragma unroll
    for (int r = 0; r < 4 && 4 * block + r < 2 * tiles; ++r)
      four[r] = halves[4 * block + r];
    const bool writes = block + 1 < x_blocks || is_own;
    mma::stmatrix_transposed(four, writes ? to + own_at.of(block) : spare);
  }
}

template <typename Tile, Form form>
__global__ __launch_bounds__(Tile::threads, 1) void mma_layers_kernel(
    const __grid_constant__ MmaLayersParameters<Tile> p)
{
  const Shared<Tile> shared{dynamic_shared()};
  if (threadIdx.x == 0)
    initialise<Tile>(shared);
  Weights<Tile>(shared.base).fill(p);
  __syncthreads();

  const int service = int(threadIdx.x) - 128 * Tile::consumer_groups;
  if (service < 0)
  {
    pipeline::grow_registers<Tile::consumer_registers>();
    const int warp = __shfl_sync(~0u, int(threadIdx.x) / 32, 0);
    if (warp < Tile::warps)
      Cells<Tile, form>(p, shared, warp).run();
    return;
  }
  pipeline::shrink_registers<Tile::service_registers>();
  if (service == 0)
    produce_own(p, shared);
  if (service == 32)
    produce_halo(p, shared);
  if constexpr (form != Form::apply)
    if (service == 64)
      produce_input<&pipeline::load_box_once>(p, shared);
  if (service == 96)
    store_results(p, shared);
}
} // namespace tensormg::laplace::mma_layers
