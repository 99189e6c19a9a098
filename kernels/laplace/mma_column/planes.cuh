// Planes of a layer in the tensor-core column kernel, the way out, and the kernel: see mma_column.cuh.
#pragma once

#include <type_traits>

#include "kernels/device/shared_memory.cuh"
#include "kernels/laplace/mma_column/jumps.cuh"
#include "kernels/laplace/mma_column/mma_column.cuh"

namespace tensormg::laplace::mma_column
{
/// Adds the upper faces of a layer in fragment f, which completes it.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::finish(int f, const Traces (&above_z)[groups])
{
#pragma unroll
  for (int k = 0; k < n; ++k)
  {
    const Held weights = constants.hold(K::face_z(k, true));
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
      weights.add(sum[f][k][tile], at_one_side(above_z, tile));
    put(f, k, [&](int tile) { return constants.factor(k, tile); });
  }
}

/// Plane k of layer c: the diagonal, b and old, the faces in x and y.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_plane(int c, int k)
{
  const Plane from = plane(k);
  if constexpr (form != Form::apply)
    wait_input();

  // Faces in x: traces of all cells of the warp, of the cell before and of the one after them.
  Traces right[fragments][line_tiles], left[fragments][line_tiles];
  Blocks u[fragments];
  std::uint32_t first[line_tiles], outside[line_tiles]; // in some lanes
  {
    Blocks beside;
#pragma unroll
    for (int block = 0; block < k_blocks; ++block)
      beside[block] = from.load_beside(beside_at.of[block]);
    const Ends at_right = hold_ends<0>(K::trace(0, false)),
               at_left = hold_ends<0>(K::trace(0, true));
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      load_blocks(u[f], from, own_at, f);
#pragma unroll
      for (int lines = 0; lines < line_tiles; ++lines)
      {
        right[f][lines] = traces<0>(u[f], at_right, lines);
        left[f][lines] = traces<0>(u[f], at_left, lines);
      }
    }
#pragma unroll
    for (int lines = 0; lines < line_tiles; ++lines)
    {
      first[lines] = traces<0>(beside, at_right, lines).low;
      outside[lines] = traces<0>(beside, at_left, lines).high;
    }
  }
  const auto add_diagonal = [&](int term, const Blocks(&of)[fragments]) {
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
    {
      const SmallB weights = constants.hold_diagonal(term, k, tile);
#pragma unroll
      for (int f = 0; f < fragments; ++f)
        add_product(sum[f][k][tile], modes_of_tile(of[f][tile / 2], tile % 2), weights);
    }
  };
  add_diagonal(1, u);
  add_diagonal(2, u);
  const auto add_input = [&](int part, auto... terms) {
    Blocks values[fragments];
#pragma unroll
    for (int f = 0; f < fragments; ++f)
      load_blocks(values[f], Plane{input_plane(part), 0}, input_at, f);
    (add_diagonal(terms, values), ...);
  };
  if constexpr (form != Form::apply)
    add_input(0, 0);
  if constexpr (form == Form::chebyshev)
    if (p.has_old)
      add_input(1, 3, 4);
  if constexpr (form != Form::apply)
    release_input();
  const auto add_faces = [&](auto direction, int lines, const A(&of)[fragments]) {
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
      if (K::has_face(direction, lines, tile))
      {
        const Held weights = constants.hold(K::face(direction, lines, tile));
#pragma unroll
        for (int f = 0; f < fragments; ++f)
          weights.add(sum[f][k][tile], of[f]);
      }
  };
  constexpr std::integral_constant<int, 0> x;
  constexpr std::integral_constant<int, 1> y;
  A faces[fragments];
#pragma unroll
  for (int lines = 0; lines < line_tiles; ++lines)
  {
    faces_x(faces, right, left, first[lines], outside[lines], lines);
    add_faces(x, lines, faces);
  }
  {
    const Ends of_below = hold_ends<1>(below.entry), of_above = hold_ends<1>(above.entry);
    Blocks lower[fragments], upper[fragments];
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      load_blocks(lower[f], from, below.at, f);
      load_blocks(upper[f], from, above.at, f);
    }
#pragma unroll
    for (int lines = 0; lines < line_tiles; ++lines)
    {
#pragma unroll
      for (int f = 0; f < fragments; ++f)
      {
        Traces lower_trace = traces<1>(lower[f], of_below, lines).flipped(below.flip);
        Traces upper_trace = traces<1>(upper[f], of_above, lines).flipped(above.flip);
        if (below.ghost)
          lower_trace = Traces(ghost_y(2, c * n + k, f, lines));
        if (above.ghost)
          upper_trace = Traces(ghost_y(3, c * n + k, f, lines));
        faces[f] = both(lower_trace, upper_trace);
      }
      add_faces(y, lines, faces);
    }
  }
}

/// The traces beside the cells in x, of a tile of lines, from those of the cells (`first`, `outside`: of the
/// cells beside the warp's).
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::faces_x(A (&faces)[fragments],
    const Traces (&right)[fragments][line_tiles], const Traces (&left)[fragments][line_tiles],
    std::uint32_t first, std::uint32_t outside, int lines) const
{
  // The row before row 0 is one of the cells beside (in a box that wraps not always the last one), or a
  // reflection; likewise the row after the last cell.
  const int before = (lane + 28) % 32, after = (lane + 4) % 32;
  first = __shfl_sync(all, first, first_lane + lane % 4);
  if (first_closed)
    first = left[0][lines].low ^ flip(0);
  const std::uint32_t beyond = __shfl_sync(all, outside, lane % 4);
  const bool top_row = lane < 4, bottom_row = lane >= 28; // rows 0 and 8, rows 7 and 15
  Traces of_right[fragments], of_left[fragments];
#pragma unroll
  for (int f = 0; f < fragments; ++f)
  {
    const Traces &r = right[f][lines], &l = left[f][lines];
    of_right[f] = {__shfl_sync(all, r.low, before), __shfl_sync(all, r.high, before)};
    of_left[f] = {__shfl_sync(all, l.low, after), __shfl_sync(all, l.high, after)};
  }
#pragma unroll
  for (int f = 0; f < fragments; ++f)
  {
    const std::uint32_t lower_first = f == 0 ? first : of_right[f == 0 ? 0 : f - 1].high;
    const std::uint32_t upper_last =
        f == fragments - 1 ? beyond : of_left[f == fragments - 1 ? f : f + 1].low;
    const Traces lower{
        top_row ? lower_first : of_right[f].low, top_row ? of_right[f].low : of_right[f].high};
    Traces upper{
        bottom_row ? of_left[f].high : of_left[f].low, bottom_row ? upper_last : of_left[f].high};
    if (ends_inside)
    {
      const Traces end = right_closed ? right[f][lines].flipped(flip(1)) : Traces(beyond, beyond);
      const int cell = cell0 + 16 * f + lane / 4;
      upper.low = cell == s.last_x ? end.low : upper.low;
      upper.high = cell + 8 == s.last_x ? end.high : upper.high;
    }
    faces[f] = both(lower, upper);
  }
}

template <typename Tile, Form form>
__global__ __launch_bounds__(Tile::threads, 1) void mma_column_kernel(
    const __grid_constant__ MmaColumnParameters<Tile> p)
{
  const column::Shared<Tile> shared{dynamic_shared()};
  if (threadIdx.x == 0)
    column::initialise<Tile>(shared);
  if constexpr (form == Form::residual)
    JumpConstants<Tile>(shared.base).fill(p);
  else
    Constants<Tile>(shared.base).template fill<form>(p);
  __syncthreads();

  const int service = int(threadIdx.x) - 128 * Tile::consumer_groups;
  if (service < 0)
  {
    pipeline::grow_registers<Tile::consumer_registers>();
    if (int(threadIdx.x) < 32 * Tile::warps)
    {
      if constexpr (form == Form::residual)
        Jumps<Tile>(p, shared).run();
      else
        Cells<Tile, form>(p, shared).run();
    }
    return;
  }
  pipeline::shrink_registers<Tile::service_registers>();
  if (service == 0)
    column::produce(p, shared);
  if constexpr (form != Form::apply)
    if (service == 32)
      column::produce_input<&pipeline::load_box_once>(p, shared);
  if (service == 64)
    column::store_results(p, shared);
}
} // namespace tensormg::laplace::mma_column
