// One step of a 3D stencil of radius 1 on tiles that march along z, by tensor cores and, with the same memory pattern,
// without. Three planes of a tile lie in shared memory while the fourth comes in. For each of the nine rows of weights
// along x (five of a star), the sums over the row are a product with a banded matrix, as in tile.cu; in single precision
// likewise with factors in TF32, corrected or not.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/core/launch.cuh"
#include "kernels/core/shared_memory.cuh"
#include "kernels/mma/instructions.cuh"
#include "kernels/stencil/planes.cuh"
#include "kernels/stencil/stencil.h"
#include "kernels/stencil/store_sums.cuh"
#include "kernels/stencil/tf32_factor.cuh"
#include "kernels/tensor/device_resources.cuh"

namespace tensormg::stencil
{
namespace
{
  /// The entry of a banded matrix at distance dx from the band's begin.
  template <typename Number>
  __device__ Number band(const Number (&row)[3], int dx)
  {
    Number weight = 0;
#pragma unroll
    for (int w = 0; w < 3; ++w)
      weight = w == dx ? row[w] : weight;
    return weight;
  }

  constexpr int chunks = 3; ///< steps of 4 of a product: 8 + 2 columns, padded

  /// Tensor cores: a warp has 8 columns, the banded matrices stay in registers.
  template <typename S, bool box>
  class ByMma
  {
  public:
    using Number = double;
    static constexpr bool is_available = mma::is_available<S>;
    static_assert(S::k == 4 && S::n == 8 && plane_y % S::m == 0 && plane_x == 8 * plane_warps);

    __device__ explicit ByMma(const PlaneWeights<double> &weights)
    {
#pragma unroll
      for (int dz = 0; dz < 3; ++dz)
#pragma unroll
        for (int dy = 0; dy < 3; ++dy)
          if (has_row<box>(dz, dy))
          {
#pragma unroll
            for (int chunk = 0; chunk < chunks; ++chunk)
              mma::map(bands_[dz][dy][chunk], lane_,
                  [&](int k, int j) { return band(weights.at[dz][dy], 4 * chunk + k - j); });
          }
    }

    __device__ void apply(const Planes<Number> &planes_of, const PlaneGrid &n,
        const PlaneTile &tile, std::int64_t z, Number *to) const
    {
      const int column = static_cast<int>(threadIdx.x) / 32 * 8;
#pragma unroll 1
      for (int row = 0; row < plane_y; row += S::m)
      {
        mma::FragmentC<S> sum{};
#pragma unroll
        for (int dz = 0; dz < 3; ++dz)
#pragma unroll
          for (int dy = 0; dy < 3; ++dy)
            if (has_row<box>(dz, dy))
            {
#pragma unroll
              for (int chunk = 0; chunk < chunks; ++chunk)
              {
                const double *const part =
                    planes_of.at[dz] + (row + dy) * plane_ld + column + 4 * chunk;
                const auto a = mma::make_fragment<S, mma::Operand::a>(
                    lane_, [&](int i, int k) { return part[i * plane_ld + k]; });
                mma::mma_sync(sum, a, bands_[dz][dy][chunk]);
              }
            }
        store_sums(sum, lane_, n.x, n.y, tile.x0 + column, tile.y0 + row, to + z * n.y * n.x);
      }
    }

  private:
    int lane_ = static_cast<int>(threadIdx.x) % 32;
    mma::FragmentB<S> bands_[3][3][chunks];
  };

  /// Tensor cores in single precision, likewise.
  template <bool corrected, bool box>
  class ByTf32
  {
    using S = mma::M16N8K4<Tf32>;

  public:
    using Number = float;
    static constexpr bool is_available = mma::is_available<S>;

    __device__ explicit ByTf32(const PlaneWeights<float> &weights)
    {
#pragma unroll
      for (int dz = 0; dz < 3; ++dz)
#pragma unroll
        for (int dy = 0; dy < 3; ++dy)
          if (has_row<box>(dz, dy))
          {
#pragma unroll
            for (int chunk = 0; chunk < chunks; ++chunk)
              bands_[dz][dy][chunk] = Factor<mma::FragmentB<S>>(
                  lane_, [&](int k, int j) { return band(weights.at[dz][dy], 4 * chunk + k - j); });
          }
    }

    __device__ void apply(const Planes<Number> &planes_of, const PlaneGrid &n,
        const PlaneTile &tile, std::int64_t z, Number *to) const
    {
      const int column = static_cast<int>(threadIdx.x) / 32 * 8;
#pragma unroll 1
      for (int row = 0; row < plane_y; row += S::m)
      {
        mma::FragmentC<S> sum{}, corrections{};
#pragma unroll
        for (int dz = 0; dz < 3; ++dz)
#pragma unroll
          for (int dy = 0; dy < 3; ++dy)
            if (has_row<box>(dz, dy))
            {
              mma::FragmentC<S> row_sum{};
#pragma unroll
              for (int chunk = 0; chunk < chunks; ++chunk)
              {
                const float *const part =
                    planes_of.at[dz] + (row + dy) * plane_ld + column + 4 * chunk;
                const Factor<mma::FragmentA<S>> a(
                    lane_, [&](int i, int k) { return part[i * plane_ld + k]; });
                multiply<corrected>(row_sum, corrections, a, bands_[dz][dy][chunk]);
              }
              add(sum, row_sum);
            }
        add(sum, corrections);
        store_sums(sum, lane_, n.x, n.y, tile.x0 + column, tile.y0 + row, to + z * n.y * n.x);
      }
    }

  private:
    int lane_ = static_cast<int>(threadIdx.x) % 32;
    Factor<mma::FragmentB<S>> bands_[3][3][chunks];
  };

  /// CUDA cores: a lane has a column and eight rows; each row goes into the sums of the rows around it.
  template <typename Number_, bool box>
  class ByFma
  {
  public:
    using Number = Number_;
    static constexpr bool is_available = true;
    __device__ explicit ByFma(const PlaneWeights<Number> &weights)
      : weights_(weights)
    {}

    __device__ void apply(const Planes<Number> &planes_of, const PlaneGrid &n,
        const PlaneTile &tile, std::int64_t z, Number *to) const
    {
      constexpr int at_once = 16, own_rows = 8;
      const int thread = static_cast<int>(threadIdx.x);
      const int column = thread / 32 % 4 * at_once + thread % at_once;
      const int first = (thread / 128 * 2 + thread % 32 / at_once) * own_rows;
      Number sums[3]{};
#pragma unroll
      for (int row = 0; row < own_rows + 2; ++row)
      {
#pragma unroll
        for (int dz = 0; dz < 3; ++dz)
        {
          const Number *const place = planes_of.at[dz] + (first + row) * plane_ld + column;
#pragma unroll
          for (int dx = 0; dx < 3; ++dx)
#pragma unroll
            for (int dy = 0; dy < 3; ++dy)
              if (box || (dx == 1) + (dy == 1) + (dz == 1) >= 2)
                sums[2 - dy] += weights_.at[dz][dy][dx] * place[dx];
        }
        if (row >= 2)
          store(n, tile.x0 + column, tile.y0 + first + row - 2, z, sums[0], to);
        sums[0] = sums[1];
        sums[1] = sums[2];
        sums[2] = 0;
      }
    }

  private:
    const PlaneWeights<Number> &weights_;
  };

  template <typename Arithmetic, typename Number>
  __device__ void march(const PlaneWeights<Number> &weights, const PlaneGrid &n,
      const Number *__restrict__ from, Number *__restrict__ to)
  {
    auto *const ring = reinterpret_cast<Number *>(dynamic_shared());
    const PlaneTile tile{static_cast<std::int64_t>(blockIdx.x) * plane_x,
        static_cast<std::int64_t>(blockIdx.y) * plane_y};
    const std::int64_t begin = blockIdx.z * n.march;
    const std::int64_t end = begin + n.march < n.z ? begin + n.march : n.z;
    const Arithmetic arithmetic(weights);
    // Plane z lies at place (z - begin + 1) modulo 4.
    const auto plane = [&](std::int64_t z) {
      return ring + (z - begin + 1) % planes_in_ring * plane_size;
    };
    PlaneLoader<Number> loader(n, tile);
    for (std::int64_t z = begin - 1; z <= begin + 1; ++z)
    {
      loader.load(z, from);
      loader.keep(plane(z));
    }
    __syncthreads();
    for (std::int64_t z = begin; z < end; ++z)
    {
      loader.load(z + 2, from);
      arithmetic.apply({{plane(z - 1), plane(z), plane(z + 1)}}, n, tile, z, to);
      loader.keep(plane(z + 2)); // where plane z - 2 was
      __syncthreads();
    }
  }

  template <typename Arithmetic, typename Number = typename Arithmetic::Number>
  __global__ void __launch_bounds__(plane_threads, 2)
      planes_kernel(const __grid_constant__ PlaneWeights<Number> weights, PlaneGrid n,
          const Number *__restrict__ from, Number *__restrict__ to)
  {
    if constexpr (Arithmetic::is_available)
      march<Arithmetic>(weights, n, from, to);
  }

  template <typename Arithmetic, typename Number>
  void launch_planes(const PlaneWeights<Number> &weights, const Grid &grid, const Number *from,
      Number *to, Stream stream)
  {
    constexpr std::size_t shared_bytes = sizeof(Number) * planes_in_ring * plane_size;
    const auto kernel = planes_kernel<Arithmetic>;
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
        dim3(plane_threads), shared_bytes, stream, weights, PlaneGrid{nx, ny, nz, length}, from,
        to);
  }

  template <bool box>
  void launch_unit(const PlaneWeights<double> &weights, const Grid &grid, TileUnit unit,
      const double *from, double *to, Stream stream)
  {
    using Small = mma::M8N8K4<double>;
    using Large = mma::M16N8K4<double>;
    switch (unit)
    {
      case TileUnit::fma:
        return launch_planes<ByFma<double, box>>(weights, grid, from, to, stream);
      case TileUnit::m8n8k4:
        return launch_planes<ByMma<Small, box>>(weights, grid, from, to, stream);
      case TileUnit::m16n8k4:
        tensor::require_compiled_for(Large::min_capability, planes_kernel<ByMma<Large, box>>);
        return launch_planes<ByMma<Large, box>>(weights, grid, from, to, stream);
    }
  }

  template <bool box>
  void launch_unit(const PlaneWeights<float> &weights, const Grid &grid, SingleTileUnit unit,
      const float *from, float *to, Stream stream)
  {
    switch (unit)
    {
      case SingleTileUnit::fma:
        return launch_planes<ByFma<float, box>>(weights, grid, from, to, stream);
      case SingleTileUnit::tf32:
        return launch_planes<ByTf32<false, box>>(weights, grid, from, to, stream);
      case SingleTileUnit::tf32_corrected:
        return launch_planes<ByTf32<true, box>>(weights, grid, from, to, stream);
    }
  }

  template <typename Unit, typename Number>
  void launch_shape(const Stencil &stencil, const Grid &grid, Unit unit, const Number *from,
      Number *to, Stream stream)
  {
    if (stencil.dim != 3 || stencil.radius != 1)
      throw std::invalid_argument("a stencil in " + std::to_string(stencil.dim) + "D of radius " +
          std::to_string(stencil.radius) + "; planes are there in 3D for radius 1");
    if (grid.size() == 0)
      return;
    PlaneWeights<Number> weights{};
    bool box = false;
    for (int t = 0; t < stencil.n_taps; ++t)
    {
      const Tap &tap = stencil.taps[static_cast<std::size_t>(t)];
      weights.at[tap.offset[2] + 1][tap.offset[1] + 1][tap.offset[0] + 1] +=
          static_cast<Number>(tap.weight);
      box = box || (tap.offset[0] != 0) + (tap.offset[1] != 0) + (tap.offset[2] != 0) > 1;
    }
    if (box)
      launch_unit<true>(weights, grid, unit, from, to, stream);
    else
      launch_unit<false>(weights, grid, unit, from, to, stream);
  }
} // namespace

void cuda_planes(const Stencil &stencil, const Grid &grid, TileUnit unit, const double *from,
    double *to, Stream stream)
{
  launch_shape(stencil, grid, unit, from, to, stream);
}

void cuda_planes(const Stencil &stencil, const Grid &grid, SingleTileUnit unit, const float *from,
    float *to, Stream stream)
{
  launch_shape(stencil, grid, unit, from, to, stream);
}
} // namespace tensormg::stencil
