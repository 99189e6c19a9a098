// One step of a 2D stencil on tiles in shared memory, by tensor cores and, with the same memory pattern, without.
//
// As a matrix product: with the rows y0 ... of a tile as rows of A, the sums over a row of weights are products with a
// banded matrix,
//   out[i][j] = sum over dy, k of in[y0 + i + dy][x0 - radius + k] T_dy[k][j],   T_dy[k][j] = weight(k - j - radius, dy),
// so that 8 columns of the result take 8 + 2 radius columns of the input, padded to a multiple of 4. In the manner
// of ConvStencil (Chen et al., PPoPP 2024), which gathers several dy into one matrix.
//
// In single precision the unit multiplies numbers of 11 bits (TF32). Corrected, input and weights are each a large and
// a small such number, and three products of them recover single precision. The unit cuts sums off, so the large
// products of a row of weights begin at zero, and rows are added outside of it.
#include <stdexcept>
#include <string>

#include "kernels/diagnostics/stencil/band.cuh"
#include "kernels/diagnostics/stencil/tf32_factor.cuh"
#include "kernels/diagnostics/stencil/tile.cuh"
#include "kernels/tensor/device_resources.cuh"

namespace tensormg::stencil
{
namespace
{
  constexpr int warp_x = tile_x / tile_warps; ///< columns of a warp

  template <typename Number_, int radius_>
  struct Weights
  {
    using Number = Number_;
    static constexpr int radius = radius_, width = 2 * radius + 1;
    Number at[width][width]; ///< [dy][dx]
  };

  /// Tensor cores: the banded matrices stay in registers.
  template <typename S, int radius>
  struct ByMma
  {
    static constexpr bool is_available = mma::is_available<S>;
    /// That registers must leave room for.
    static constexpr int blocks = radius == 3 ? 2 : S::m == 8 ? 4 : 4 - radius;
    static constexpr int width = 2 * radius + 1;
    static constexpr int chunks = padded_input(8, radius, 4) / 4;
    static_assert(S::k == 4 && S::n == 8 && tile_y % S::m == 0 && warp_x % S::n == 0);
    using W = Weights<double, radius>;
    using T = TileOf<double, radius, 4, 0>;

    static __device__ void apply(const W &weights, const TileGrid &n, std::int64_t x0,
        std::int64_t y0, const double *tile, double *to)
    {
      const int lane = static_cast<int>(threadIdx.x) % 32;
      const int warp_column = static_cast<int>(threadIdx.x) / 32 * warp_x;
      mma::FragmentB<S> bands[width][chunks];
#pragma unroll
      for (int dy = 0; dy < width; ++dy)
#pragma unroll
        for (int chunk = 0; chunk < chunks; ++chunk)
          mma::map(bands[dy][chunk], lane,
              [&](int k, int j) { return band(weights.at[dy], 4 * chunk + k - j); });
#pragma unroll 1
      for (int column = warp_column; column < warp_column + warp_x; column += S::n)
#pragma unroll 1
        for (int row = 0; row < tile_y; row += S::m)
        {
          mma::FragmentC<S> sum{};
#pragma unroll
          for (int dy = 0; dy < width; ++dy)
#pragma unroll
            for (int chunk = 0; chunk < chunks; ++chunk)
            {
              const double *const part = tile + (row + dy) * T::ld + column + 4 * chunk;
              const auto a = mma::make_fragment<S, mma::Operand::a>(
                  lane, [&](int i, int k) { return part[i * T::ld + k]; });
              mma::mma_sync(sum, a, bands[dy][chunk]);
            }
          store_sums(sum, lane, n.x, n.y, x0 + column, y0 + row, to);
        }
    }
  };

  using S = mma::M16N8K8<Tf32>;

  /// Tensor cores in single precision.
  template <int radius, bool corrected>
  struct ByTf32
  {
    static constexpr bool is_available = mma::is_available<S>;
    static constexpr int blocks = radius == 1 ? 4 : 2;
    static constexpr int width = 2 * radius + 1;
    static constexpr int chunks = padded_input(8, radius, S::k) / S::k;
    static_assert(S::n == 8 && tile_y % S::m == 0 && warp_x % S::n == 0);
    using W = Weights<float, radius>;
    using T = TileOf<float, radius, S::k, 0>;

    static __device__ void apply(const W &weights, const TileGrid &n, std::int64_t x0,
        std::int64_t y0, const float *tile, float *to)
    {
      const int lane = static_cast<int>(threadIdx.x) % 32;
      const int warp_column = static_cast<int>(threadIdx.x) / 32 * warp_x;
      Factor<mma::FragmentB<S>> bands[width][chunks];
#pragma unroll
      for (int dy = 0; dy < width; ++dy)
#pragma unroll
        for (int chunk = 0; chunk < chunks; ++chunk)
          bands[dy][chunk] = Factor<mma::FragmentB<S>>(
              lane, [&](int k, int j) { return band(weights.at[dy], S::k * chunk + k - j); });
#pragma unroll 1
      for (int column = warp_column; column < warp_column + warp_x; column += S::n)
#pragma unroll 1
        for (int row = 0; row < tile_y; row += S::m)
        {
          mma::FragmentC<S> sum{}, corrections{};
#pragma unroll
          for (int dy = 0; dy < width; ++dy)
          {
            mma::FragmentC<S> row_sum{};
#pragma unroll
            for (int chunk = 0; chunk < chunks; ++chunk)
            {
              const float *const part = tile + (row + dy) * T::ld + column + S::k * chunk;
              const Factor<mma::FragmentA<S>> a(
                  lane, [&](int i, int k) { return part[i * T::ld + k]; });
              multiply<corrected>(row_sum, corrections, a, bands[dy][chunk]);
            }
            add(sum, row_sum);
          }
          add(sum, corrections);
          store_sums(sum, lane, n.x, n.y, x0 + column, y0 + row, to);
        }
    }
  };

  /// CUDA cores: a lane has a column and half of the rows; each row goes into the sums of all rows around it. `box`: not only
  /// taps on the axes.
  template <typename Number, int radius, bool box>
  struct ByFma
  {
    static constexpr bool is_available = true;
    static constexpr int blocks = radius == 3 ? 3 : 4;
    using W = Weights<Number, radius>;
    using T = TileOf<Number, radius, 4, 0>;

    static __device__ void apply(const W &weights, const TileGrid &n, std::int64_t x0,
        std::int64_t y0, const Number *tile, Number *to)
    {
      constexpr int width = 2 * radius + 1, rows = tile_y * warp_x / 32;
      const int lane = static_cast<int>(threadIdx.x) % 32;
      const int column = static_cast<int>(threadIdx.x) / 32 * warp_x + lane % warp_x;
      const int first = lane / warp_x * rows;
      Number sums[width]{};
#pragma unroll
      for (int row = 0; row < rows + 2 * radius; ++row)
      {
        const Number *const place = tile + (first + row) * T::ld + column;
#pragma unroll
        for (int dx = 0; dx < width; ++dx)
#pragma unroll
          for (int dy = 0; dy < width; ++dy)
            if (box || dx == radius || dy == radius)
              sums[width - 1 - dy] += weights.at[dy][dx] * place[dx];
        if (row >= 2 * radius)
          store_point(n, x0 + column, y0 + first + row - 2 * radius, sums[0], to);
#pragma unroll
        for (int w = 0; w + 1 < width; ++w)
          sums[w] = sums[w + 1];
        sums[width - 1] = 0;
      }
    }
  };

  template <typename Arithmetic, typename W, typename Number = typename W::Number>
  __global__ void __launch_bounds__(tile_threads, Arithmetic::blocks)
      tile_kernel(const __grid_constant__ W weights, TileGrid n, const Number *__restrict__ from,
          Number *__restrict__ to)
  {
    if constexpr (Arithmetic::is_available)
    {
      auto *const tile = reinterpret_cast<Number *>(dynamic_shared());
      const std::int64_t x0 = static_cast<std::int64_t>(blockIdx.x) * tile_x;
      const std::int64_t y0 = static_cast<std::int64_t>(blockIdx.y) * tile_y;
      load_tile<typename Arithmetic::T, W::radius>(n, x0, y0, from, tile);
      Arithmetic::apply(weights, n, x0, y0, tile, to);
    }
  }

  template <typename Arithmetic, typename Number>
  void launch_tiles(
      const Stencil &stencil, const Grid &grid, const Number *from, Number *to, Stream stream)
  {
    using W = typename Arithmetic::W;
    W weights{};
    for (int t = 0; t < stencil.n_taps; ++t)
    {
      const Tap &tap = stencil.taps[static_cast<std::size_t>(t)];
      weights.at[tap.offset[1] + W::radius][tap.offset[0] + W::radius] +=
          static_cast<Number>(tap.weight);
    }
    launch_on_tiles("launching the stencil on tiles", tile_kernel<Arithmetic, W>,
        Arithmetic::T::shared_bytes, grid, weights, from, to, stream);
  }

  template <typename Number, int radius>
  void launch_fma(
      const Stencil &stencil, const Grid &grid, const Number *from, Number *to, Stream stream)
  {
    if (has_taps_off_axes(stencil))
      launch_tiles<ByFma<Number, radius, true>>(stencil, grid, from, to, stream);
    else
      launch_tiles<ByFma<Number, radius, false>>(stencil, grid, from, to, stream);
  }

  template <int radius>
  void launch_unit(const Stencil &stencil, const Grid &grid, TileUnit unit, const double *from,
      double *to, Stream stream)
  {
    using Small = mma::M8N8K4<double>;
    using Large = mma::M16N8K4<double>;
    switch (unit)
    {
      case TileUnit::fma:
        return launch_fma<double, radius>(stencil, grid, from, to, stream);
      case TileUnit::m8n8k4:
        return launch_tiles<ByMma<Small, radius>>(stencil, grid, from, to, stream);
      case TileUnit::m16n8k4:
        tensor::require_compiled_for(
            Large::min_capability, tile_kernel<ByMma<Large, radius>, Weights<double, radius>>);
        return launch_tiles<ByMma<Large, radius>>(stencil, grid, from, to, stream);
    }
  }

  template <int radius>
  void launch_unit(const Stencil &stencil, const Grid &grid, SingleTileUnit unit, const float *from,
      float *to, Stream stream)
  {
    switch (unit)
    {
      case SingleTileUnit::fma:
        return launch_fma<float, radius>(stencil, grid, from, to, stream);
      case SingleTileUnit::tf32:
        return launch_tiles<ByTf32<radius, false>>(stencil, grid, from, to, stream);
      case SingleTileUnit::tf32_corrected:
        return launch_tiles<ByTf32<radius, true>>(stencil, grid, from, to, stream);
    }
  }

  template <typename Unit, typename Number>
  void launch_radius(const Stencil &stencil, const Grid &grid, Unit unit, const Number *from,
      Number *to, Stream stream)
  {
    if (stencil.dim != 2 || stencil.radius < 1 || stencil.radius > 3)
      throw std::invalid_argument("a stencil in " + std::to_string(stencil.dim) + "D of radius " +
          std::to_string(stencil.radius) + "; tiles are there in 2D for radius 1 to 3");
    if (grid.size() == 0)
      return;
    switch (stencil.radius)
    {
      case 1:
        return launch_unit<1>(stencil, grid, unit, from, to, stream);
      case 2:
        return launch_unit<2>(stencil, grid, unit, from, to, stream);
      default:
        return launch_unit<3>(stencil, grid, unit, from, to, stream);
    }
  }
} // namespace

void cuda_tile(const Stencil &stencil, const Grid &grid, TileUnit unit, const double *from,
    double *to, Stream stream)
{
  launch_radius(stencil, grid, unit, from, to, stream);
}

void cuda_tile(const Stencil &stencil, const Grid &grid, SingleTileUnit unit, const float *from,
    float *to, Stream stream)
{
  launch_radius(stencil, grid, unit, from, to, stream);
}
} // namespace tensormg::stencil
