#include "kernels/core/launch.cuh"
#include "kernels/core/shared_memory.cuh"
#include "kernels/stencil/stencil.h"

namespace tensormg::stencil
{
namespace
{
  constexpr int tile_x = 32, tile_y = 16, thread_rows = 8;
  constexpr int threads = tile_x * thread_rows;
  constexpr std::int64_t planes_per_block =
      64; ///< of the march: its first planes are read once more

  /// A kernel's copy of the taps, all of one size.
  template <typename Number>
  struct Taps
  {
    int count;
    int radius, radius_z;
    short dx[max_taps], dy[max_taps], dz[max_taps];
    Number weight[max_taps];
  };

  template <typename Number>
  Taps<Number> make_taps(const Stencil &stencil)
  {
    Taps<Number> taps{};
    taps.count = stencil.n_taps;
    taps.radius = stencil.radius;
    taps.radius_z = stencil.dim == 3 ? stencil.radius : 0;
    for (int t = 0; t < stencil.n_taps; ++t)
    {
      const Tap &tap = stencil.taps[static_cast<std::size_t>(t)];
      taps.dx[t] = static_cast<short>(tap.offset[0]);
      taps.dy[t] = static_cast<short>(tap.offset[1]);
      taps.dz[t] = static_cast<short>(tap.offset[2]);
      taps.weight[t] = static_cast<Number>(tap.weight);
    }
    return taps;
  }

  struct Size
  {
    std::int64_t x, y, z;
  };

  template <typename Number>
  __global__ void __launch_bounds__(threads) naive_kernel(
      Taps<Number> taps, Size n, const Number *__restrict__ from, Number *__restrict__ to)
  {
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (at >= n.x * n.y * n.z)
      return;
    const std::int64_t x = at % n.x, y = at / n.x % n.y, z = at / n.x / n.y;
    Number sum = 0;
    for (int t = 0; t < taps.count; ++t)
    {
      const std::int64_t at_x = x + taps.dx[t], at_y = y + taps.dy[t], at_z = z + taps.dz[t];
      if (at_x >= 0 && at_x < n.x && at_y >= 0 && at_y < n.y && at_z >= 0 && at_z < n.z)
        sum += taps.weight[t] * __ldg(from + (at_z * n.y + at_y) * n.x + at_x);
    }
    to[at] = sum;
  }

  /// A plane of the tile with its rim, zero outside of the grid.
  template <typename Number>
  __device__ void load_plane(const Taps<Number> &taps, const Size &n, const Number *from,
      std::int64_t x0, std::int64_t y0, std::int64_t z, Number *plane)
  {
    const int width = tile_x + 2 * taps.radius, height = tile_y + 2 * taps.radius;
    for (int i = static_cast<int>(threadIdx.x); i < width * height; i += threads)
    {
      const std::int64_t x = x0 - taps.radius + i % width, y = y0 - taps.radius + i / width;
      const bool inside = x >= 0 && x < n.x && y >= 0 && y < n.y && z >= 0 && z < n.z;
      plane[i] = inside ? __ldg(from + (z * n.y + y) * n.x + x) : Number(0);
    }
  }

  template <typename Number>
  __global__ void __launch_bounds__(threads) tiled_kernel(
      Taps<Number> taps, Size n, const Number *__restrict__ from, Number *__restrict__ to)
  {
    auto *const ring = reinterpret_cast<Number *>(dynamic_shared());
    const int width = tile_x + 2 * taps.radius;
    const int plane = width * (tile_y + 2 * taps.radius), slots = 2 * taps.radius_z + 1;
    const std::int64_t x0 = static_cast<std::int64_t>(blockIdx.x) * tile_x;
    const std::int64_t y0 = static_cast<std::int64_t>(blockIdx.y) * tile_y;
    const std::int64_t z0 = static_cast<std::int64_t>(blockIdx.z) * planes_per_block;
    const std::int64_t z1 = z0 + planes_per_block < n.z ? z0 + planes_per_block : n.z;
    // Plane z0 - radius + i is in slot i modulo their number.
    for (int i = 0; i < slots - 1; ++i)
      load_plane(taps, n, from, x0, y0, z0 - taps.radius_z + i, ring + i * plane);
    const int tx = static_cast<int>(threadIdx.x) % tile_x;
    for (std::int64_t z = z0; z < z1; ++z)
    {
      const int step = static_cast<int>(z - z0);
      load_plane(
          taps, n, from, x0, y0, z + taps.radius_z, ring + (step + slots - 1) % slots * plane);
      __syncthreads();
      for (int ty = static_cast<int>(threadIdx.x) / tile_x; ty < tile_y; ty += thread_rows)
      {
        if (x0 + tx >= n.x || y0 + ty >= n.y)
          continue;
        Number sum = 0;
        for (int t = 0; t < taps.count; ++t)
        {
          const int slot = (step + taps.radius_z + taps.dz[t]) % slots;
          sum += taps.weight[t] *
              ring[slot * plane + (ty + taps.radius + taps.dy[t]) * width + tx + taps.radius +
                  taps.dx[t]];
        }
        to[(z * n.y + y0 + ty) * n.x + x0 + tx] = sum;
      }
      __syncthreads(); // before the slot of the lowest plane is written again
    }
  }

  std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
} // namespace

template <typename Number>
void cuda_naive(
    const Stencil &stencil, const Grid &grid, const Number *from, Number *to, Stream stream)
{
  if (grid.size() == 0)
    return;
  const auto [nx, ny, nz] = grid.points;
  launch("launching the naive stencil", naive_kernel<Number>,
      dim3(static_cast<unsigned>(divide_up(grid.size(), threads))), dim3(threads), 0, stream,
      make_taps<Number>(stencil), Size{nx, ny, nz}, from, to);
}

template <typename Number>
void cuda_tiled(
    const Stencil &stencil, const Grid &grid, const Number *from, Number *to, Stream stream)
{
  if (grid.size() == 0)
    return;
  const auto [nx, ny, nz] = grid.points;
  const Taps<Number> taps = make_taps<Number>(stencil);
  const std::size_t bytes = sizeof(Number) * (2 * taps.radius_z + 1) * (tile_x + 2 * taps.radius) *
      (tile_y + 2 * taps.radius);
  const dim3 blocks(static_cast<unsigned>(divide_up(nx, tile_x)),
      static_cast<unsigned>(divide_up(ny, tile_y)),
      static_cast<unsigned>(divide_up(nz, planes_per_block)));
  launch("launching the tiled stencil", tiled_kernel<Number>, blocks, dim3(threads), bytes, stream,
      taps, Size{nx, ny, nz}, from, to);
}

template void cuda_naive(const Stencil &, const Grid &, const double *, double *, Stream);
template void cuda_naive(const Stencil &, const Grid &, const float *, float *, Stream);
template void cuda_tiled(const Stencil &, const Grid &, const double *, double *, Stream);
template void cuda_tiled(const Stencil &, const Grid &, const float *, float *, Stream);
} // namespace tensormg::stencil
