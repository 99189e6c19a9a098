// Several steps of a 2D stencil as one with fused weights, and what these leave wrong near the sides: there a sum that
// leaves the grid and comes back finds zeros between the steps.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/device/launch.cuh"
#include "kernels/diagnostics/stencil/low_rank.h"
#include "kernels/diagnostics/stencil/stencil.h"

namespace tensormg::stencil
{
namespace
{
  constexpr int threads = 128;
  constexpr int segment = 64;                         ///< points of a block along a side
  constexpr int most_steps = largest_tile_radius;     ///< of radius 1
  constexpr int most_width = largest_tile_radius - 1; ///< of the border
  constexpr int reach = largest_tile_radius;          ///< of all steps
  constexpr int buffer_size = (segment + 2 * reach) * (most_width + 2 * reach);

  template <typename Number>
  struct BorderTaps
  {
    int count;
    int dx[max_taps], dy[max_taps];
    Number weight[max_taps];
  };

  struct BorderGrid
  {
    std::int64_t x, y;
    std::int64_t width;               ///< of the border
    std::int64_t per_row, per_column; ///< blocks of the sides along x and along y
  };

  /// A part of the border: points [x, x + nx) x [y, y + ny).
  struct Region
  {
    std::int64_t x, y;
    int nx, ny;
  };

  __device__ std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

  /// The two sides along x first, then what is left of those along y.
  __device__ Region region_of(const BorderGrid &n, std::int64_t block)
  {
    const std::int64_t low = smaller(n.width, n.y); // rows of the first side
    const std::int64_t high = smaller(n.width, n.y - low), middle = n.y - low - high;
    if (block < 2 * n.per_row)
    {
      const bool is_second = block >= n.per_row;
      const std::int64_t x = (is_second ? block - n.per_row : block) * segment;
      return {x, is_second ? n.y - high : 0, static_cast<int>(smaller(segment, n.x - x)),
          static_cast<int>(is_second ? high : low)};
    }
    block -= 2 * n.per_row;
    const bool is_second = block >= n.per_column;
    const std::int64_t y = (is_second ? block - n.per_column : block) * segment;
    const std::int64_t left = smaller(n.width, n.x), right = smaller(n.width, n.x - left);
    return {is_second ? n.x - right : 0, low + y, static_cast<int>(is_second ? right : left),
        static_cast<int>(smaller(segment, middle - y))};
  }

  /// The region with as much of its surroundings as the steps use up, in shared memory; every step computes less.
  template <typename Number>
  __global__ void __launch_bounds__(threads)
      border_kernel(const __grid_constant__ BorderTaps<Number> taps, int radius, int steps,
          BorderGrid n, const Number *__restrict__ from, Number *__restrict__ to)
  {
    __shared__ Number buffers[2][buffer_size];
    const Region region = region_of(n, blockIdx.x);
    if (region.nx <= 0 || region.ny <= 0)
      return; // the whole block
    const int rim = radius * steps, nx = region.nx + 2 * rim, ny = region.ny + 2 * rim;
    const auto global = [&](int i, std::int64_t &x, std::int64_t &y) {
      x = region.x - rim + i % nx;
      y = region.y - rim + i / nx;
      return x >= 0 && x < n.x && y >= 0 && y < n.y;
    };
    for (int i = static_cast<int>(threadIdx.x); i < nx * ny; i += threads)
    {
      std::int64_t x = 0, y = 0;
      const bool is_inside = global(i, x, y);
      buffers[0][i] = is_inside ? from[y * n.x + x] : Number(0);
    }
    __syncthreads();
    for (int step = 1; step <= steps; ++step)
    {
      const Number *const source = buffers[(step + 1) % 2];
      Number *const target = buffers[step % 2];
      const int margin = radius * step;
      for (int i = static_cast<int>(threadIdx.x); i < nx * ny; i += threads)
      {
        const int bx = i % nx, by = i / nx;
        if (bx < margin || bx >= nx - margin || by < margin || by >= ny - margin)
          continue;
        Number sum = 0;
        for (int t = 0; t < taps.count; ++t)
          sum += taps.weight[t] * source[(by + taps.dy[t]) * nx + bx + taps.dx[t]];
        std::int64_t x = 0, y = 0;
        const bool is_inside = global(i, x, y);
        target[i] = is_inside ? sum : Number(0);
        if (step == steps && is_inside)
          to[y * n.x + x] = sum;
      }
      __syncthreads();
    }
  }
} // namespace

template <typename Number>
void cuda_border(const Stencil &stencil, const Grid &grid, int steps, const Number *from,
    Number *to, Stream stream)
{
  if (stencil.dim != 2 || stencil.radius * steps > reach || steps > most_steps)
    throw std::invalid_argument(std::to_string(steps) + " steps of radius " +
        std::to_string(stencil.radius) + " reach too far for the border");
  const int width = stencil.radius * (steps - 1);
  if (grid.size() == 0 || width == 0)
    return;
  BorderTaps<Number> taps{};
  taps.count = stencil.n_taps;
  for (int t = 0; t < stencil.n_taps; ++t)
  {
    const Tap &tap = stencil.taps[static_cast<std::size_t>(t)];
    taps.dx[t] = tap.offset[0];
    taps.dy[t] = tap.offset[1];
    taps.weight[t] = static_cast<Number>(tap.weight);
  }
  const auto [nx, ny, nz] = grid.points;
  const auto blocks = [](std::int64_t points) { return (points + segment - 1) / segment; };
  const BorderGrid n{nx, ny, width, blocks(nx), blocks(std::max<std::int64_t>(0, ny - 2 * width))};
  launch("launching the border of a stencil", border_kernel<Number>,
      dim3(static_cast<unsigned>(2 * (n.per_row + n.per_column))), dim3(threads), 0, stream, taps,
      stencil.radius, steps, n, from, to);
}

void cuda_tile_steps(const Stencil &stencil, const Grid &grid, int steps, TileUnit unit,
    const double *from, double *to, Stream stream)
{
  cuda_tile(fuse_steps(stencil, steps), grid, unit, from, to, stream);
  cuda_border(stencil, grid, steps, from, to, stream);
}

void cuda_tile_steps(const Stencil &stencil, const Grid &grid, int steps, SingleTileUnit unit,
    const float *from, float *to, Stream stream)
{
  cuda_tile(fuse_steps(stencil, steps), grid, unit, from, to, stream);
  cuda_border(stencil, grid, steps, from, to, stream);
}

void cuda_low_rank_steps(const Stencil &stencil, const Grid &grid, int steps, TileUnit unit,
    const double *from, double *to, Stream stream)
{
  cuda_low_rank(fuse_steps(stencil, steps), grid, unit, from, to, stream);
  cuda_border(stencil, grid, steps, from, to, stream);
}

template void cuda_border(const Stencil &, const Grid &, int, const double *, double *, Stream);
template void cuda_border(const Stencil &, const Grid &, int, const float *, float *, Stream);
} // namespace tensormg::stencil
