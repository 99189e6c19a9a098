// Tiles of a 2D grid in shared memory with a rim, zero outside of the grid: what the kernels of tile.cu and low_rank.cu
// have in common.
#pragma once

#include "kernels/device/copy_async.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/diagnostics/stencil/stencil.h"
#include "kernels/diagnostics/stencil/store_sums.cuh"
#include "kernels/mma/bank_conflicts.h"
#include "kernels/mma/instructions.cuh"
#include "kernels/mma/shared_layout.h"

namespace tensormg::stencil
{
inline constexpr int tile_x = 128, tile_y = 32, tile_threads = 256;
inline constexpr int tile_warps = tile_threads / 32;

/// Columns (rows) of the input that products in steps of `chunk` read for 8 (16) of the result.
constexpr int padded_input(int of, int radius, int chunk)
{
  return (of + 2 * radius + chunk - 1) / chunk * chunk;
}

/// `extra_rows` below the rim are read by products, times zero.
template <typename Number, int radius, int chunk, int extra_rows>
struct TileOf
{
  /// Columns that products read: those of the last 8 columns of the result, padded.
  static constexpr int columns = tile_x - 8 + padded_input(8, radius, chunk);
  static constexpr int rows = tile_y + 2 * radius + extra_rows;
  static constexpr int ld = (columns + 11) / 16 * 16 + 4; ///< 4 modulo 16: no conflicts
  static_assert(ld >= columns);
  using Layout = mma::RowMajor<ld>;
  static_assert(
      mma::fragment_wavefronts<mma::M16N8K4<double>, mma::Operand::a>(Layout()).conflicts() == 0 &&
      mma::fragment_wavefronts<mma::M16N8K8<Tf32>, mma::Operand::a>(Layout()).conflicts() == 0);
  static constexpr int shared_bytes = rows * ld * static_cast<int>(sizeof(Number));
};

struct TileGrid
{
  std::int64_t x, y;
};

/// With all threads of the block. Asynchronous copies: all of a tile is on its way at once, without registers.
template <typename T, int radius, typename Number>
__device__ void load_tile(
    const TileGrid &n, std::int64_t x0, std::int64_t y0, const Number *from, Number *tile)
{
  constexpr int lanes = 64, rows_at_once = tile_threads / lanes, bytes = sizeof(Number);
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int first = static_cast<int>(threadIdx.x) / lanes;
  const SharedAddress to = shared_address(tile);
  const Number *line = from + (y0 - radius + first) * n.x + x0 - radius;
  int y = static_cast<int>(y0) - radius + first; // a launch has no more than 65535 tiles along y
  const int ny = static_cast<int>(n.y);
#pragma unroll
  for (int i = 0; i < (T::rows + rows_at_once - 1) / rows_at_once; ++i)
  {
    const int row = first + i * rows_at_once;
    if (row < T::rows)
#pragma unroll
      for (int column = lane; column < T::columns; column += lanes)
      {
        const std::int64_t x = x0 - radius + column;
        copy_async_or_zero<bytes>(to + (row * T::ld + column) * bytes, line + column,
            x >= 0 && x < n.x && y >= 0 && y < ny);
      }
    line += rows_at_once * n.x;
    y += rows_at_once;
  }
  commit_copies();
  wait_copies<0>();
  __syncthreads();
}

template <typename Number>
__device__ void store_point(
    const TileGrid &n, std::int64_t x, std::int64_t y, Number value, Number *to)
{
  if (x < n.x && y < n.y)
    to[y * n.x + x] = value;
}

/// One block of tile_threads per tile. kernel(arguments, n, from, to) with the tile in dynamic shared memory.
template <typename Kernel, typename Arguments, typename Number>
void launch_on_tiles(const char *name, Kernel kernel, int shared_bytes, const Grid &grid,
    const Arguments &arguments, const Number *from, Number *to, Stream stream)
{
  allow_shared_bytes(
      reinterpret_cast<const void *>(kernel), static_cast<std::size_t>(shared_bytes));
  const auto [nx, ny, nz] = grid.points;
  launch(name, kernel,
      dim3(static_cast<unsigned>((nx + tile_x - 1) / tile_x),
          static_cast<unsigned>((ny + tile_y - 1) / tile_y)),
      dim3(tile_threads), static_cast<std::size_t>(shared_bytes), stream, arguments,
      TileGrid{nx, ny}, from, to);
}
} // namespace tensormg::stencil
