// One plane in the tensor-core layer kernel, and the kernel: see mma_layers.cuh.
#pragma once

#include "kernels/core/shared_memory.cuh"
#include "kernels/laplace/mma_layers_cells.cuh"

namespace tensormg::laplace::mma_layers
{
/// Reads plane k of the layer.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::load(Plane &at, int k)
{
  const unsigned char *const own_plane = shared.own(own_slot(k));
  const unsigned char *const halo_plane = shared.halo(halo.slot);
#pragma unroll
  for (int block = 0; block < x_blocks; ++block)
    at.u[block] = load_cells(own_plane + own_at.of(block));
  pipeline::wait(shared.halo_full(halo.slot), halo.parity);
#pragma unroll
  for (int block = 0; block < x_blocks; ++block)
    at.around[block] = load_cells((beside_in_halo ? halo_plane : own_plane) + beside_at[block]);
  if constexpr (Tile::ample_registers)
#pragma unroll
    for (int side = 0; side < 2; ++side)
#pragma unroll
      for (int block = 0; block < k_blocks; ++block)
        at.rows[side][block] = load_row(side, block, k);
}

/// Faces in x.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_x(Accumulators &sum, const Plane &at) const
{
  // Lanes with t = lane % 4 < 2 hold right ends of lines, which the next cell, one row further, wants below its own;
  // the others left ends, which the cell before wants above.
  const bool of_right_end = lane % 4 < 2;
  const int from = of_right_end ? (lane + 28) % 32 : (lane + 4) % 32;
  const bool first_row = of_right_end && lane < 4, last_row = !of_right_end && lane >= 28;
  // The cell before the first: in a box that wraps not always the last one.
  const int outside_from = (of_right_end ? 4 * (cell0 == 0 ? s.left_cell : 7) : 0) + lane % 4;
#pragma unroll
  for (int pair = 0; pair < Tile::pairs; ++pair)
  {
    D own_sums{}, outside_sums{};
#pragma unroll
    for (int block = 0; block < x_blocks; ++block)
      if (W::overlap(16 * block, 16, pair))
      {
        const auto ends = weights.hold(W::x_trace(block, pair));
        add_numbers(own_sums, at.u[block], ends.part);
        add_numbers(outside_sums, at.around[block], ends.part);
      }
    const Trace own_traces(own_sums), outside(outside_sums);
    Trace faces;
#pragma unroll
    for (int part = 0; part < Tile::parts; ++part)
    {
      const std::uint32_t low = __shfl_sync(all, own_traces.low[part], from);
      const std::uint32_t high = __shfl_sync(all, own_traces.high[part], from);
      std::uint32_t beyond =
          __shfl_sync(all, of_right_end ? outside.low[part] : outside.high[part], outside_from);
      if (first_closed)
      {
        const std::uint32_t mirrored = __shfl_xor_sync(all, own_traces.low[part], 2) ^ flip(0);
        beyond = of_right_end ? mirrored : beyond;
      }
      faces.low[part] = first_row ? beyond : last_row ? high : low;
      faces.high[part] = first_row ? low : last_row ? beyond : high;
      if (ends_inside)
      {
        const std::uint32_t mirrored_low = __shfl_xor_sync(all, own_traces.low[part], 2);
        const std::uint32_t mirrored_high = __shfl_xor_sync(all, own_traces.high[part], 2);
        const std::uint32_t end_low = s.right_closed ? mirrored_low ^ flip(1) : beyond;
        const std::uint32_t end_high = s.right_closed ? mirrored_high ^ flip(1) : beyond;
        const int cell = cell0 + lane / 4;
        faces.low[part] = !of_right_end && cell == s.last_x ? end_low : faces.low[part];
        faces.high[part] = !of_right_end && cell + 8 == s.last_x ? end_high : faces.high[part];
      }
    }
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
      if (W::overlap(8 * tile, 8, pair))
        add_traces(sum[tile], faces, weights.hold_x_face(pair, tile).part);
  }
}

/// Faces in y.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_y(
    Accumulators &sum, const Plane &at, int c, int k) const
{
  D sums[2][line_tiles] = {};
#pragma unroll
  for (int block = 0; block < k_blocks; ++block)
#pragma unroll
    for (int side = 0; side < 2; ++side)
    {
      const A row = Tile::ample_registers ? at.rows[side][block] : load_row(side, block, k);
#pragma unroll
      for (int lines = 0; lines < line_tiles; ++lines)
        add_numbers(sums[side][lines], row, y_trace(side, block, lines).part);
    }
  Trace traces[2][line_tiles];
#pragma unroll
  for (int side = 0; side < 2; ++side)
#pragma unroll
    for (int lines = 0; lines < line_tiles; ++lines)
      traces[side][lines] = Trace(sums[side][lines]).flipped(beside[side].flip);
  if (beside[0].ghost || beside[1].ghost)
#pragma unroll
    for (int side = 0; side < 2; ++side)
#pragma unroll
      for (int lines = 0; lines < line_tiles; ++lines)
        if (beside[side].ghost)
          traces[side][lines] = ghost_y(2 + side, c * n + k, lines);
#pragma unroll
  for (int lines = 0; lines < line_tiles; ++lines)
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
      add_traces(sum[tile], traces[0][lines], traces[1][lines], y_face(lines, tile).part);
}

/// Faces in z.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_z(Accumulators &sum, int k) const
{
  const auto of_below = weights.hold(W::z_face(0, false) + 2 * k);
  const auto of_above = weights.hold(W::z_face(0, true) + 2 * k);
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

/// Plane k of layer c, from the traces to what is written.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::work_on_plane(int c, int k)
{
  Plane at;
  load(at, k);
  Accumulators sum = {};
  add_z(sum, k);
  add_x(sum, at);
  add_y(sum, at, c, k);

  A b[form == Form::apply ? 1 : x_blocks], old[form == Form::chebyshev ? x_blocks : 1];
  if constexpr (form != Form::apply)
  {
    wait_input();
#pragma unroll
    for (int block = 0; block < x_blocks; ++block)
    {
      b[block] = load_cells(shared.input(input.slot, 0) + own_at.of(block));
      if constexpr (form == Form::chebyshev)
        old[block] = p.has_old ? load_cells(shared.input(input.slot, 1) + own_at.of(block)) : A{};
    }
  }
  pipeline::fence_copies();
  pipeline::arrive(shared.own_empty(own_slot(k)));
  release_halo();

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
      const float2 v = to_floats(at.u[tile / 2].registers[r]);
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
          result = {fmaf(p.alpha * __frcp_rn(d.x), result.x, p.u_factor * v.x),
              fmaf(p.alpha * __frcp_rn(d.y), result.y, p.u_factor * v.y)};
          result = {fmaf(-p.theta, before.x, result.x), fmaf(-p.theta, before.y, result.y)};
        }
      }
      halves[2 * tile + high] = mma::to_halves(result.x, result.y);
      if (s.partial && cell0 + 8 * high + lane / 4 > s.last_x)
        halves[2 * tile + high] = 0; // padding is zero in src and stays zero in dst
    }
  }
  write(halves);
}

/// To where b was: this warp alone has read that.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::write(const std::uint32_t (&halves)[2 * tiles])
{
  if constexpr (form == Form::apply)
    wait_input();
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
  pipeline::fence_copies();
  hand_over_result();
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
