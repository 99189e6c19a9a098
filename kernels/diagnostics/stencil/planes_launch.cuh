// Launches of marches along z by what multiplies.
#pragma once

#include <algorithm>

#include "kernels/device/launch.cuh"
#include "kernels/diagnostics/stencil/planes_arithmetic.cuh"
#include "kernels/diagnostics/stencil/stencil.h"
#include "kernels/tensor/device_resources.cuh"

namespace tensormg::stencil
{
/// Registers must leave room for two blocks where sums are few.
template <typename Arithmetic, typename Weights, typename Number = typename Arithmetic::Number>
__global__ void __launch_bounds__(plane_threads, Arithmetic::Layout::radius == 1 ? 2 : 1)
    planes_kernel(const __grid_constant__ Weights weights, PlaneGrid n,
        const Number *__restrict__ from, Number *__restrict__ to)
{
  if constexpr (Arithmetic::is_available)
    march<Arithmetic>(weights, n, from, to);
}

template <typename Arithmetic, typename Weights, typename Number>
void launch_planes(
    const Weights &weights, const Grid &grid, const Number *from, Number *to, Stream stream)
{
  constexpr std::size_t shared_bytes =
      sizeof(Number) * plane_places * Arithmetic::Layout::size + Arithmetic::table_bytes;
  const auto kernel = planes_kernel<Arithmetic, Weights>;
  allow_shared_bytes(reinterpret_cast<const void *>(kernel), shared_bytes);
  const auto [nx, ny, nz] = grid.points;
  const auto divide_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t tiles_x = divide_up(nx, plane_x), tiles_y = divide_up(ny, plane_y);
  // Enough blocks for a large GPU, planes enough that those read twice do not count.
  constexpr std::int64_t blocks_wanted = 1024, fewest_planes = 24;
  const std::int64_t marches =
      std::max<std::int64_t>(1, divide_up(blocks_wanted, tiles_x * tiles_y));
  const std::int64_t length = std::max(fewest_planes, divide_up(nz, marches));
  launch("launching the stencil on planes", kernel,
      dim3(static_cast<unsigned>(tiles_x), static_cast<unsigned>(tiles_y),
          static_cast<unsigned>(divide_up(nz, length))),
      dim3(plane_threads), shared_bytes, stream, weights, PlaneGrid{nx, ny, nz, length}, from, to);
}

template <int radius, bool box>
void launch_planes(const PlaneWeights<double, 2 * radius + 1> &weights, const Grid &grid,
    TileUnit unit, const double *from, double *to, Stream stream)
{
  using Small = mma::M8N8K4<double>;
  using Large = mma::M16N8K4<double>;
  using Weights = PlaneWeights<double, 2 * radius + 1>;
  switch (unit)
  {
    case TileUnit::fma:
      return launch_planes<ByFma<double, radius, box>>(weights, grid, from, to, stream);
    case TileUnit::m8n8k4:
      return launch_planes<ByMma<Small, radius, box>>(weights, grid, from, to, stream);
    case TileUnit::m16n8k4:
      tensor::require_compiled_for(
          Large::min_capability, planes_kernel<ByMma<Large, radius, box>, Weights>);
      return launch_planes<ByMma<Large, radius, box>>(weights, grid, from, to, stream);
  }
}

template <int radius, bool box>
void launch_planes(const PlaneWeights<float, 2 * radius + 1> &weights, const Grid &grid,
    SingleTileUnit unit, const float *from, float *to, Stream stream)
{
  switch (unit)
  {
    case SingleTileUnit::fma:
      return launch_planes<ByFma<float, radius, box>>(weights, grid, from, to, stream);
    case SingleTileUnit::tf32:
      return launch_planes<ByTf32<false, radius, box>>(weights, grid, from, to, stream);
    case SingleTileUnit::tf32_corrected:
      return launch_planes<ByTf32<true, radius, box>>(weights, grid, from, to, stream);
  }
}

/// The weights of one step of radius 1; throws std::invalid_argument for others.
template <typename Number>
struct OneStep
{
  PlaneWeights<Number, 3> weights{};
  bool box = false; ///< not only on the axes

  explicit OneStep(const Stencil &stencil)
  {
    if (stencil.dim != 3 || stencil.radius != 1)
      throw std::invalid_argument("a stencil in " + std::to_string(stencil.dim) + "D of radius " +
          std::to_string(stencil.radius) + "; planes are there in 3D for radius 1");
    for (int t = 0; t < stencil.n_taps; ++t)
    {
      const Tap &tap = stencil.taps[static_cast<std::size_t>(t)];
      weights.at[tap.offset[2] + 1][tap.offset[1] + 1][tap.offset[0] + 1] +=
          static_cast<Number>(tap.weight);
      box = box || (tap.offset[0] != 0) + (tap.offset[1] != 0) + (tap.offset[2] != 0) > 1;
    }
  }
};
} // namespace tensormg::stencil
