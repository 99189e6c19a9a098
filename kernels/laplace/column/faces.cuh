// Faces in x and y of the planes of a layer, and the kernel: see column.cuh.
#pragma once

#include "kernels/device/shared_memory.cuh"
#include "kernels/laplace/column/cells.cuh"

namespace tensormg::laplace::column
{
/// Traces beside the row: each lane sums one line of the layer, k and j. At a closed side that is the reflection of
/// the last cell, CellBasis.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::find_edge()
{
  const bool right = lane >= n * n, closed = right ? s.right_closed : s.left_closed;
  const int j = lane % n;
  edge_at = closed ? (cy + 1) * row_y + j * mode_y + (right ? s.last_x : 0)
                   : (right ? Tile::right_at : Tile::left_at) / int(sizeof(Number)) +
          (cy * n + j) * n * Tile::halo_x + (right ? 0 : s.left_cell);
  edge_sign = closed ? value_reflection<C>(p.sides[right]) : C(1);
}

template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::sum_edges()
{
  constexpr int lines = n * n;
  __syncwarp(); // all lanes have read the traces of the layer before
  if (lane < 2 * lines)
  {
    const bool right = lane >= lines, closed = right ? s.right_closed : s.left_closed;
    const Number *from = shared.own(own_slot(lane % lines / n)) + edge_at;
    const int stride = closed ? mode_x : Tile::halo_x;
    column::ScaledSums<Pack<C, 1>, n == 2> sums;
#pragma unroll
    for (int i = 0; i < n; ++i)
      sums.add(i, p, load_pack<1>(from + i * stride));
    const column::Trace<Pack<C, 1>, n == 2> trace = right != closed ? sums.lower(p) : sums.upper(p);
    Pack<C, 2> both;
    both.at[0] = edge_sign * trace.v.at[0];
    both.at[1] = (closed ? -edge_sign : C(1)) * trace.d.at[0];
    write_pack(shared.edges(cy) + 2 * lane, both);
  }
  __syncwarp();
}

/// Line j of plane k: the faces in x.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_faces_x(int k, int j, const V (&u)[n])
{
  LineSums sums;
#pragma unroll
  for (int i = 0; i < n; ++i)
    sums.add(i, p, u[i]);
  const Faces faces = couple(k, j, sums.lower(p), sums.upper(p));
#pragma unroll
  for (int i = 0; i < n; ++i)
    faces.add(sum[k][j][i], p, 0, i);
}

/// Plane k: b and old.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_input(int k)
{
  pipeline::wait(shared.input_full(input.slot), input.parity);
#pragma unroll
  for (int j = 0; j < n; ++j)
#pragma unroll
    for (int i = 0; i < n; ++i)
    {
      V &to = sum[k][j][i];
      to = to + input_at(0, j, i);
      if constexpr (form == Form::chebyshev)
        if (p.has_old)
          add_product(to, p.of_old[k][j][i], input_at(1, j, i));
    }
  pipeline::arrive_to_overwrite(shared.input_empty(input.slot));
  input.advance();
}

/// Line j of plane k in x from its traces at both ends.
template <typename Tile, Form form>
__device__ __forceinline__ auto Cells<Tile, form>::couple(
    int k, int j, const Trace &left, const Trace &right) const -> Faces
{
  C lower_v = __shfl_up_sync(~0u, right.v.at[width - 1], 1);
  C lower_d = __shfl_up_sync(~0u, right.d.at[width - 1], 1);
  C upper_v = __shfl_down_sync(~0u, left.v.at[0], 1);
  C upper_d = __shfl_down_sync(~0u, left.d.at[0], 1);
  const C *edge = shared.edges(cy) + 2 * (k * n + j);
  if (lane == 0)
  {
    const Pack<C, 2> outside = load_pack<2>(edge);
    lower_v = outside.at[0];
    lower_d = outside.at[1];
  }
  if (lane == 31)
  {
    const Pack<C, 2> outside = load_pack<2>(edge + 2 * n * n);
    upper_v = outside.at[0];
    upper_d = outside.at[1];
  }
  Trace below, above;
#pragma unroll
  for (int w = 0; w < width; ++w)
  {
    below.v.at[w] = w == 0 ? lower_v : right.v.at[w == 0 ? 0 : w - 1];
    below.d.at[w] = w == 0 ? lower_d : right.d.at[w == 0 ? 0 : w - 1];
    above.v.at[w] = w == width - 1 ? upper_v : left.v.at[w == width - 1 ? w : w + 1];
    above.d.at[w] = w == width - 1 ? upper_d : left.d.at[w == width - 1 ? w : w + 1];
  }
  if (s.partial)
  {
    // Padding is zero in src; without traces from its neighbour it stays zero in dst.
    const Pack<C, 2> outside = load_pack<2>(edge + 2 * n * n);
#pragma unroll
    for (int w = 0; w < width; ++w)
    {
      const int cell = lane * width + w;
      above.v.at[w] = cell < s.last_x ? above.v.at[w] : cell == s.last_x ? outside.at[0] : C(0);
      above.d.at[w] = cell < s.last_x ? above.d.at[w] : cell == s.last_x ? outside.at[1] : C(0);
      below.v.at[w] = cell <= s.last_x ? below.v.at[w] : C(0);
      below.d.at[w] = cell <= s.last_x ? below.d.at[w] : C(0);
    }
  }
  return {below, above};
}

/// At an end of the block in y this lane fills its part of the row of cells outside, in the planes of layer c:
/// with the reflection of the own row, or with two modes that have the traces of a ghost.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::fill_row(bool upper, int c)
{
  const int side = upper ? 3 : 2;
  if (p.sides[side] == Side::ghost)
  {
    if constexpr (Tile::adds_ghosts)
      add_ghosts_y(upper, c);
    else
      fill_row_with_ghost(upper, c);
    return;
  }
  // Many loads under way at once, as far as registers are to spare: everybody waits for the blocks at the ends.
  constexpr int modes_i = n * n * width * int(sizeof(Number)) <= 64 ? n : 1;
  const bool flip_even = reflects_odd(p.sides[side]);
#pragma unroll 1
  for (int k = 0; k < n; ++k)
#pragma unroll 1
    for (int i = 0; i < n; i += modes_i)
    {
      const Number *from = shared.own(own_slot(k)) + own_at + i * mode_x;
      RawPack<Number, width> row[modes_i][n];
#pragma unroll
      for (int m = 0; m < modes_i; ++m)
#pragma unroll
        for (int j = 0; j < n; ++j)
          row[m][j].load(from + m * mode_x + j * mode_y);
      Number *to = const_cast<Number *>(from) + (upper ? row_y : -row_y);
#pragma unroll
      for (int m = 0; m < modes_i; ++m)
#pragma unroll
        for (int j = 0; j < n; ++j)
          row[m][j].flip_signs(flip_even == (j % 2 == 0)).store(to + m * mode_x + j * mode_y);
    }
}

template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::fill_row_with_ghost(bool upper, int c) const
{
#pragma unroll 1
  for (int k = 0; k < n; ++k)
  {
    Number *to = shared.own(own_slot(k)) + own_at + (upper ? row_y : -row_y);
#pragma unroll 1
    for (int i = 0; i < n; ++i)
    {
      const Trace ghost = ghost_at(upper ? 3 : 2, p.block.planes(), c * n + k, i);
      write_number(to + i * mode_x, mode_of_ghost(0, upper, ghost));
      write_number(to + mode_y + i * mode_x, mode_of_ghost(1, upper, ghost));
    }
  }
}

/// Adds the faces in y to a ghost, in all planes of layer c. The row of cells outside stays zero, as the copy
/// engine has filled it, and so do its traces in add_faces_y().
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_ghosts_y(bool upper, int c)
{
  const Block &block = p.block;
  const std::int64_t derivatives = block.planes() * block.row();
  // The modes (k, i) of a layer of ghosts are a pitch apart.
  const C *from = p.ghost[upper ? 3 : 2] + c * n * block.row() + s.x0 + lane * width;
#pragma unroll
  for (int k = 0; k < n; ++k)
#pragma unroll
    for (int i = 0; i < n; ++i, from += block.pitch)
    {
      const Trace ghost = ghost_from(from, derivatives);
#pragma unroll
      for (int j = 0; j < n; ++j)
      {
        const C sign = upper || j % 2 == 0 ? C(1) : C(-1);
        add_product(sum[k][j][i], (upper ? C(-1) : sign) * p.vd[1][j], ghost.d);
        add_product(sum[k][j][i], sign * p.gd[1][j], ghost.v);
      }
    }
}

/// Plane k: the faces in y. What a mode of the cell below adds to one of the same parity is what that of the cell above
/// adds, otherwise it has the other sign. So up to three modes need nothing but sums and differences of the two rows, and
/// fewer operations than with traces.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::add_faces_y(int k, const Number *plane)
{
#pragma unroll
  for (int i = 0; i < n; ++i)
    if constexpr (n <= 3)
    {
      V sums[n], differences[n];
#pragma unroll
      for (int j = 0; j < n; ++j)
      {
        const V below = load(plane - row_y, j, i), above = load(plane + row_y, j, i);
        sums[j] = above + below;
        differences[j] = above - below;
      }
#pragma unroll
      for (int j = 0; j < n; ++j)
#pragma unroll
        for (int m = 0; m < n; ++m)
          add_product(sum[k][j][i], p.near[1][j][m], (j + m) % 2 == 0 ? sums[m] : differences[m]);
    }
    else
    {
      LineSums below, above;
#pragma unroll
      for (int j = 0; j < n; ++j)
      {
        below.add(j, p, load(plane - row_y, j, i));
        above.add(j, p, load(plane + row_y, j, i));
      }
      const Faces faces(below.upper(p), above.lower(p));
#pragma unroll
      for (int j = 0; j < n; ++j)
        faces.add(sum[k][j][i], p, 1, j);
    }
}

template <typename Tile, Form form>
__global__ __launch_bounds__(Tile::threads, 1) void column_kernel(
    const __grid_constant__ LaneParameters<Tile> p)
{
  const Shared<Tile> shared{dynamic_shared()};
  if (threadIdx.x == 0)
    march::initialise<Tile>(shared);
  __syncthreads();

  const int service = int(threadIdx.x) - 128 * Tile::consumer_groups;
  if (service < 0)
  {
    pipeline::grow_registers<Tile::consumer_registers>();
    if (int(threadIdx.x) < 32 * Tile::rows)
      Cells<Tile, form>(p, shared).run();
    return;
  }
  pipeline::shrink_registers<Tile::service_registers>();
  if (service == 0)
    march::produce<Tile>(p, shared);
  if constexpr (form != Form::apply)
    if (service == 32)
      march::produce_input<&pipeline::load_box, Tile>(p, shared);
}
} // namespace tensormg::laplace::column
