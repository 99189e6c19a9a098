// Planes of a layer in the tensor-core column kernel, the way out, and the kernel: see mma_column.cuh.
#pragma once

#include "kernels/core/shared_memory.cuh"
#include "kernels/laplace/mma_column.cuh"

namespace tensormg::laplace::mma_column
{
/// Adds the upper faces of layer c and writes it: through shared memory, so that whole sectors are written.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::finish(
    int c, const Traces (&above)[fragments][groups])
{
  constexpr int row_bytes = Tile::staging_row, pieces = row_bytes / 16; // of 8 cells
  unsigned char *const staging = shared.base + Tile::staging_offset +
      (cy * Tile::parts + cell0 / part_cells) * Tile::staging_bytes;
  // Pieces are permuted so that eight rows lie in different banks.
  const auto place_of = [&](int row, int piece) {
    return staging + row * row_bytes + 16 * (piece ^ (row * pieces / 8 % pieces));
  };
#pragma unroll
  for (int k = 0; k < n; ++k)
  {
    const Held weights = constants.hold(Constants<Tile>::face_z(k, true));
    __syncwarp(); // the plane before has been read
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      std::uint32_t out[2 * tiles];
#pragma unroll
      for (int tile = 0; tile < tiles; ++tile)
      {
        D &result = sum[f][k][tile];
        weights.add(result, at_one_side(above[f], tile));
        const float2 factor = constants.factor(k, tile);
        out[2 * tile] =
            mma::to_halves(factor.x * result.registers[0], factor.y * result.registers[1]);
        out[2 * tile + 1] =
            mma::to_halves(factor.x * result.registers[2], factor.y * result.registers[3]);
        if (s.partial)
        {
          // Padding is zero in src and stays zero in dst.
          const int cell = cell0 + 16 * f + lane / 4;
          out[2 * tile] = cell <= s.last_x ? out[2 * tile] : 0;
          out[2 * tile + 1] = cell + 8 <= s.last_x ? out[2 * tile + 1] : 0;
        }
      }
      mma::stmatrix_transposed(
          out, place_of(lane / 16 % tiles * 8 + lane % 8, 2 * f + lane / 8 % 2));
    }
    __syncwarp();
    Number *const to = p.dst + (std::int64_t(c) * n + k) * p.plane +
        std::int64_t(s.y0 + cy) * n * p.row + s.x0 + cell0;
#pragma unroll
    for (int at = lane; at < modes * pieces; at += 32)
    {
      const int mode = at / pieces, cell = at % pieces * 8;
      if (s.x0 + cell0 + cell < p.block.pitch)
        *reinterpret_cast<uint4 *>(to + mode / n * p.row + mode % n * p.block.pitch + cell) =
            *reinterpret_cast<const uint4 *>(place_of(mode, at % pieces));
    }
  }
}

/// Plane k of layer c: the diagonal, b and old, the faces in x and y.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_plane(int c, int k)
{
  using K = Constants<Tile>;
  const unsigned char *const plane = slot(k);
  const unsigned char *const b =
      shared.base + Tile::input_offset + 2 * input.slot * Tile::input_bytes;
  if constexpr (form != Form::apply)
    pipeline::wait(shared.input_full(input.slot), input.parity);

  // Faces in x: traces of all cells of the warp, of the cell before and of the one after them.
  const A beside = load_cells(plane + beside_at);
  Traces right[fragments], left[fragments];
  A u[fragments];
  std::uint32_t first, outside; // in lanes 28.. and 0..3
  {
    const Held at_right = hold_trace(0, false), at_left = hold_trace(0, true);
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      u[f] = load_cells(plane + (own_at ^ 32 * f));
      right[f] = traces(u[f], at_right);
      left[f] = traces(u[f], at_left);
    }
    first = traces(beside, at_right).low;
    outside = traces(beside, at_left).high;
  }
  const auto add_diagonal = [&](int term, const A(&of)[fragments]) {
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
    {
      const DiagonalB weights = constants.hold_diagonal(term, k, tile);
#pragma unroll
      for (int f = 0; f < fragments; ++f)
        add_product(sum[f][k][tile], modes_of_tile(of[f], tile), weights);
    }
  };
  add_diagonal(1, u);
  add_diagonal(2, u);
  const auto add_input = [&](int part, auto... terms) {
    A values[fragments];
#pragma unroll
    for (int f = 0; f < fragments; ++f)
      values[f] = load_cells(b + part * Tile::input_bytes + (input_at ^ 32 * f));
    (add_diagonal(terms, values), ...);
  };
  if constexpr (form != Form::apply)
    add_input(0, 0);
  if constexpr (form == Form::chebyshev)
    if (p.has_old)
      add_input(1, 3, 4);
  if constexpr (form != Form::apply)
  {
    pipeline::arrive_to_overwrite(shared.input_empty(input.slot));
    input.advance();
  }
  // The row before row 0 is one of the cells beside (in a box that wraps not always the last one), or a
  // reflection; likewise the row after the last cell.
  const int before = (lane + 28) % 32, after = (lane + 4) % 32;
  first = __shfl_sync(all, first, (cell0 == 0 ? 4 * s.left_cell : 28) + lane % 4);
  if (first_closed)
    first = left[0].low ^ flip(0);
  const std::uint32_t beyond = __shfl_sync(all, outside, lane % 4);
  Traces end[fragments];
#pragma unroll
  for (int f = 0; f < fragments; ++f)
  {
    end[f] = s.right_closed ? right[f].flipped(flip(1)) : Traces(beyond, beyond);
    right[f] = {__shfl_sync(all, right[f].low, before), __shfl_sync(all, right[f].high, before)};
    left[f] = {__shfl_sync(all, left[f].low, after), __shfl_sync(all, left[f].high, after)};
  }
  const bool top_row = lane < 4, bottom_row = lane >= 28; // rows 0 and 8, rows 7 and 15
  A faces[fragments];
  const auto add_faces = [&](int first_entry, const A(&of)[fragments]) {
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
    {
      const Held weights = constants.hold(first_entry + tile);
#pragma unroll
      for (int f = 0; f < fragments; ++f)
        weights.add(sum[f][k][tile], of[f]);
    }
  };
#pragma unroll
  for (int f = 0; f < fragments; ++f)
  {
    const Traces lower{top_row ? (f == 0 ? first : right[f == 0 ? 0 : f - 1].high) : right[f].low,
        top_row ? right[f].low : right[f].high};
    Traces upper{bottom_row ? left[f].high : left[f].low,
        bottom_row ? (f == fragments - 1 ? beyond : left[f == fragments - 1 ? f : f + 1].low)
                   : left[f].high};
    if (ends_inside)
    {
      const int cell = cell0 + 16 * f + lane / 4;
      upper.low = cell == s.last_x ? end[f].low : upper.low;
      upper.high = cell + 8 == s.last_x ? end[f].high : upper.high;
    }
    faces[f] = both(lower, upper);
  }
  add_faces(K::face(0, 0), faces);
  {
    const Held of_below = constants.hold(below.entry), of_above = constants.hold(above.entry);
#pragma unroll
    for (int f = 0; f < fragments; ++f)
    {
      Traces lower = traces(load_cells(plane + (below.at ^ 32 * f)), of_below).flipped(below.flip);
      Traces upper = traces(load_cells(plane + (above.at ^ 32 * f)), of_above).flipped(above.flip);
      if (below.ghost)
        lower = ghost_y(2, c * n + k, f);
      if (above.ghost)
        upper = ghost_y(3, c * n + k, f);
      faces[f] = both(lower, upper);
    }
  }
  add_faces(K::face(1, 0), faces);
}

template <typename Tile, Form form>
__global__ __launch_bounds__(Tile::threads, 1) void mma_column_kernel(
    const __grid_constant__ MmaColumnParameters<Tile> p)
{
  const column::Shared<Tile> shared{dynamic_shared()};
  if (threadIdx.x == 0)
    column::initialise<Tile>(shared);
  Constants<Tile>(shared.base).template fill<form>(p);
  __syncthreads();

  const int service = int(threadIdx.x) - 128 * Tile::consumer_groups;
  if (service < 0)
  {
    pipeline::grow_registers<Tile::consumer_registers>();
    if (int(threadIdx.x) < 32 * Tile::warps)
      Cells<Tile, form>(p, shared).run();
    return;
  }
  pipeline::shrink_registers<Tile::service_registers>();
  if (service == 0)
    column::produce(p, shared);
  if constexpr (form != Form::apply)
    if (service == 32)
      column::produce_input(p, shared);
}
} // namespace tensormg::laplace::mma_column
