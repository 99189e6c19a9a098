// How the line kernel fills shared memory, what it adds at ghosts, and the kernel: see kernel.cuh.
#pragma once

#include "kernels/device/copy_async.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/laplace/lines/kernel.cuh"

namespace tensormg::laplace::lines
{
/// What the ghost at a side in y (direction 1) or z adds to mode m of a line, from the traces at `at`.
template <typename Tile>
template <int direction>
__device__ __forceinline__ typename Tile::C Lines<Tile>::of_ghost(
    bool upper, int m, std::int64_t at) const
{
  const C *const trace = p.ghost[2 * direction + upper] + at;
  const C scale = p.scale[direction];
  const C v = scale * p.face_g[direction][m] * trace[0];
  const C d = scale * p.face_v[direction][m] *
      trace[(direction == 1 ? p.planes : p.rows_per_plane) * p.row];
  return upper ? v - d : m % 2 == 0 ? v + d : -(v + d);
}

/// Of all ghosts, to mode (i, j, k) of a row of cells.
template <typename Tile>
__device__ __forceinline__ typename Tile::C Lines<Tile>::of_ghosts(
    int row, int i, int j, int k, int x) const
{
  const int y = y0 + row;
  const std::int64_t in_row = i * p.pitch + x;
  const std::int64_t in_y = (std::int64_t(cz) * layout.nz() + k) * p.row + in_row;
  C sum = 0;
  if (p.ghost[2] != nullptr && y == 0)
    sum += of_ghost<1>(false, j, in_y);
  if (p.ghost[3] != nullptr && y + 1 == p.ny)
    sum += of_ghost<1>(true, j, in_y);
  if constexpr (dim == 3)
  {
    const std::int64_t in_z = (std::int64_t(y) * n + j) * p.row + in_row;
    if (p.ghost[4] != nullptr && cz == 0)
      sum += of_ghost<2>(false, k, in_z);
    if (p.ghost[5] != nullptr && cz + 1 == p.nz)
      sum += of_ghost<2>(true, k, in_z);
  }
  return sum;
}

/// Whether there is any for this tile.
template <typename Tile>
__device__ __forceinline__ bool Lines<Tile>::has_ghosts() const
{
  return (p.ghost[2] != nullptr && y0 == 0) || (p.ghost[3] != nullptr && y0 + rows == p.ny) ||
      (dim == 3 &&
          ((p.ghost[4] != nullptr && cz == 0) || (p.ghost[5] != nullptr && cz + 1 == p.nz)));
}

/// Adds it to the sums.
template <typename Tile>
__device__ __forceinline__ void Lines<Tile>::add_ghosts()
{
  for (int at = threadIdx.x; at < rows * n * layout.lines() * layout.cells(); at += Tile::threads)
  {
    constexpr int cells = layout.cells();
    const int cell = at % cells, i = at / cells % n, j = at / (cells * n) % n,
              k = at / (cells * n * n) % layout.nz(), row = at / (cells * n * layout.lines());
    if (cell < end)
      sums[row * of_sums.row + k * of_sums.z + j * of_sums.y + i * of_sums.x + cell] +=
          of_ghosts(row, i, j, k, x0 + cell);
  }
}

/// 16 bytes of memory: copied as they are, or converted by the thread itself.
template <typename Shared, typename Number>
__device__ __forceinline__ void copy_piece(Shared *to, const Number *from)
{
  if constexpr (std::is_same_v<Shared, Number>)
    copy_async(shared_address(to), from);
  else
  {
    constexpr int numbers = 16 / int(sizeof(Number));
    const auto pack = load_pack<numbers>(from);
#pragma unroll
    for (int e = 0; e < numbers; ++e)
      to[e] = pack.at[e];
  }
}

/// Pieces of 16 bytes. A thread keeps its cells and modes (i, j) while it goes through modes k and rows of cells.
template <typename Tile>
__device__ __forceinline__ void Lines<Tile>::copy_tile()
{
  constexpr int numbers = 16 / int(sizeof(Number)), chunks = layout.cells() / numbers;
  constexpr int pieces = chunks * n * n, nz = layout.nz();
  constexpr int planes = pieces < Tile::threads ? Tile::threads / pieces : 1; ///< at a time
  const int first = y0 == 0 ? 1 : 0, last = y0 + rows == p.ny ? rows : rows + 1;
  const int plane = pieces < Tile::threads ? int(threadIdx.x) / pieces : 0;
  if (plane >= planes)
    return;
  for (int piece = int(threadIdx.x) - plane * pieces; piece < pieces; piece += Tile::threads)
  {
    const int x = piece % chunks * numbers, i = piece / chunks % n, j = piece / (chunks * n);
    if (x0 + x >= p.pitch)
      continue;
    int row = first + plane / nz, k = plane % nz;
    Shared *to = u + at_u(row, k, j, i) + x;
    const Number *from = p.src + in_block(row - 1, k, j, i) + x0 + x;
    while (row <= last)
    {
      copy_piece(to, from);
      row += planes / nz;
      k += planes % nz;
      to += planes / nz * of_u.row + planes % nz * of_u.z;
      from += planes / nz * n * p.row + planes % nz * p.plane;
      if (k >= nz)
      {
        k -= nz;
        ++row;
        to += of_u.row - nz * of_u.z;
        from += n * p.row - nz * p.plane;
      }
    }
  }
}

template <typename Tile>
__device__ __forceinline__ void Lines<Tile>::fill_diagonal()
{
  for (int at = threadIdx.x; at < n * layout.lines(); at += Tile::threads)
  {
    C d = p.lambda[0][at % n] + p.lambda[1][at / n % n];
    if constexpr (dim == 3)
      d += p.lambda[2][at / (n * n)];
    diagonal[at] = p.form == Form::chebyshev ? p.alpha / d : d;
  }
}

/// The rows of cells below and above the tile at the ends of the block: reflections, or nothing where ghosts are
/// added in the end.
template <typename Tile>
__device__ __forceinline__ void Lines<Tile>::fill_rows_beside()
{
  for (int upper = 0; upper < 2; ++upper)
  {
    const int side = 2 + upper;
    if (upper ? y0 + rows < p.ny : y0 > 0)
      continue;
    const int to = upper ? rows + 1 : 0, from = upper ? rows : 1;
    constexpr int cells = layout.cells();
    for (int at = threadIdx.x; at < n * layout.lines() * cells; at += Tile::threads)
    {
      const int cell = at % cells, i = at / cells % n, j = at / (cells * n) % n,
                k = at / (cells * n * n);
      if (cell >= end)
        continue;
      u[at_u(to, k, j, i) + cell] =
          is_closed(p.sides[side]) ? reflected(side, j, u[at_u(from, k, j, i) + cell]) : Shared{};
    }
  }
}

/// The cells left and right of the tile, or of the end of the block in it. What comes from global memory to where
/// no copy goes need not wait for the copies.
template <typename Tile>
template <bool copied>
__device__ __forceinline__ void Lines<Tile>::fill_cells_beside()
{
  const bool left_now = (is_closed(p.sides[0]) && x0 == 0) == copied;
  const bool right_now =
      (end < layout.cells() || (is_closed(p.sides[1]) && x0 + end == p.nx)) == copied;
  if (!left_now && !right_now)
    return;
  for (int at = threadIdx.x; at < rows * n * layout.lines(); at += Tile::threads)
  {
    const int i = at % n, j = at / n % n, k = at / (n * n) % layout.nz(),
              row = at / (n * layout.lines());
    Shared *const line = u + at_u(row + 1, k, j, i);
    const Number *const from = p.src + in_block(row, k, j, i);
    if (left_now)
      line[-1] =
          copied ? reflected(0, i, line[0]) : read_as<Shared>(from + (x0 > 0 ? x0 - 1 : p.nx - 1));
    if (right_now)
      line[end] = x0 + end < p.nx ? read_as<Shared>(from + x0 + end)
          : is_closed(p.sides[1]) ? reflected(1, i, line[end - 1])
                                  : read_as<Shared>(from);
  }
}

template <typename Tile>
__global__ __launch_bounds__(Tile::threads, Tile::blocks) void lines_kernel(
    const __grid_constant__ LinesParameters<typename Tile::Number, Tile::n> p)
{
  Lines<Tile>(p, dynamic_shared()).run();
}
} // namespace tensormg::laplace::lines
