// One step of a 3D stencil of radius 1 on tiles that march along z, by tensor cores and, with the same memory pattern,
// without. Three planes of a tile lie in shared memory while the fourth comes in. For each of the nine rows of weights
// along x (five of a star), the sums over the row are a product with a banded matrix, as in tile.cu.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/core/launch.cuh"
#include "kernels/core/shared_memory.cuh"
#include "kernels/mma/bank_conflicts.h"
#include "kernels/mma/instructions.cuh"
#include "kernels/mma/shared_layout.h"
#include "kernels/stencil/stencil.h"
#include "kernels/stencil/store_sums.cuh"
#include "kernels/tensor/device_resources.cuh"

namespace tensormg::stencil
{
namespace
{
  constexpr int threads = 256, warps = threads / 32;
  constexpr int plane_x = 64, plane_y = 32; ///< points of a tile
  constexpr int columns = plane_x + 4, rows = plane_y + 2, ld = columns;
  constexpr int plane_size = rows * ld, planes = 4;
  constexpr std::size_t shared_bytes = sizeof(double) * planes * plane_size;
  static_assert(mma::fragment_wavefronts<mma::M16N8K4<double>, mma::Operand::a>(mma::RowMajor<ld>())
                    .conflicts() == 0);

  struct PlaneWeights
  {
    double at[3][3][3]; ///< [dz][dy][dx]
  };

  struct PlaneGrid
  {
    std::int64_t x, y, z;
    std::int64_t march; ///< planes of the result per block
  };

  /// Rows of weights that a star has not.
  template <bool box>
  constexpr bool has_row(int dz, int dy)
  {
    return box || dz == 1 || dy == 1;
  }

  /// Where a block works.
  struct PlaneTile
  {
    std::int64_t x0, y0;
  };

  __device__ void store(
      const PlaneGrid &n, std::int64_t x, std::int64_t y, std::int64_t z, double value, double *to)
  {
    if (x < n.x && y < n.y)
      to[(z * n.y + y) * n.x + x] = value;
  }

  /// What a thread brings of a plane: one column of plane_x every rows_at_once rows, and one number of the columns
  /// behind these.
  class Loader
  {
  public:
    __device__ Loader(const PlaneGrid &n, const PlaneTile &tile)
      : n_(n)
      , x_(tile.x0 - 1 + lane())
      , y_(tile.y0 - 1 + first_row())
      , rest_x_(tile.x0 - 1 + plane_x + static_cast<int>(threadIdx.x) % rest_columns)
      , rest_y_(tile.y0 - 1 + static_cast<int>(threadIdx.x) / rest_columns)
      , has_rest_(
            threadIdx.x < rest_columns * rows && rest_x_ < n.x && rest_y_ >= 0 && rest_y_ < n.y)
    {}

    /// Zero outside of the grid.
    __device__ void load(std::int64_t z, const double *from)
    {
      const bool exists = z >= 0 && z < n_.z, in_columns = exists && x_ >= 0 && x_ < n_.x;
      const double *const plane = from + z * n_.y * n_.x;
#pragma unroll
      for (int i = 0; i < loads; ++i)
      {
        const std::int64_t y = y_ + i * rows_at_once;
        const bool is_inside =
            in_columns && first_row() + i * rows_at_once < rows && y >= 0 && y < n_.y;
        values_[i] = is_inside ? __ldg(plane + y * n_.x + x_) : 0.;
      }
      rest_ = exists && has_rest_ ? __ldg(plane + rest_y_ * n_.x + rest_x_) : 0.;
    }

    __device__ void keep(double *plane) const
    {
#pragma unroll
      for (int i = 0; i < loads; ++i)
        if (const int row = first_row() + i * rows_at_once; row < rows)
          plane[row * ld + lane()] = values_[i];
      const int thread = static_cast<int>(threadIdx.x);
      if (thread < rest_columns * rows)
        plane[thread / rest_columns * ld + plane_x + thread % rest_columns] = rest_;
    }

  private:
    static constexpr int rows_at_once = threads / plane_x, rest_columns = columns - plane_x;
    static constexpr int loads = (rows + rows_at_once - 1) / rows_at_once;
    static_assert(rest_columns * rows <= threads);
    static __device__ int lane() { return static_cast<int>(threadIdx.x) % plane_x; }
    static __device__ int first_row() { return static_cast<int>(threadIdx.x) / plane_x; }

    PlaneGrid n_;
    std::int64_t x_, y_, rest_x_, rest_y_;
    bool has_rest_;
    double values_[loads], rest_ = 0.;
  };

  /// Three planes, dz = 0, 1, 2.
  struct Planes
  {
    const double *at[3];
  };

  /// Tensor cores: a warp has 8 columns, the banded matrices stay in registers.
  template <typename S, bool box>
  class ByMma
  {
  public:
    static constexpr bool is_available = mma::is_available<S>;
    static_assert(S::k == 4 && S::n == 8 && plane_y % S::m == 0 && plane_x == 8 * warps);

    __device__ explicit ByMma(const PlaneWeights &weights)
    {
#pragma unroll
      for (int dz = 0; dz < 3; ++dz)
#pragma unroll
        for (int dy = 0; dy < 3; ++dy)
          if (has_row<box>(dz, dy))
          {
#pragma unroll
            for (int chunk = 0; chunk < chunks; ++chunk)
              mma::map(bands_[dz][dy][chunk], lane_, [&](int k, int j) {
                const int dx = 4 * chunk + k - j;
                double weight = 0.;
#pragma unroll
                for (int w = 0; w < 3; ++w)
                  weight = w == dx ? weights.at[dz][dy][w] : weight;
                return weight;
              });
          }
    }

    __device__ void apply(const Planes &planes_of, const PlaneGrid &n, const PlaneTile &tile,
        std::int64_t z, double *to) const
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
                const double *const part = planes_of.at[dz] + (row + dy) * ld + column + 4 * chunk;
                const auto a = mma::make_fragment<S, mma::Operand::a>(
                    lane_, [&](int i, int k) { return part[i * ld + k]; });
                mma::mma_sync(sum, a, bands_[dz][dy][chunk]);
              }
            }
        store_sums(sum, lane_, n.x, n.y, tile.x0 + column, tile.y0 + row, to + z * n.y * n.x);
      }
    }

  private:
    static constexpr int chunks = 3; ///< 8 + 2 columns, padded
    int lane_ = static_cast<int>(threadIdx.x) % 32;
    mma::FragmentB<S> bands_[3][3][chunks];
  };

  /// CUDA cores: a lane has a column and eight rows; each row goes into the sums of the rows around it.
  template <bool box>
  class ByFma
  {
  public:
    static constexpr bool is_available = true;
    __device__ explicit ByFma(const PlaneWeights &weights)
      : weights_(weights)
    {}

    __device__ void apply(const Planes &planes_of, const PlaneGrid &n, const PlaneTile &tile,
        std::int64_t z, double *to) const
    {
      constexpr int at_once = 16, own_rows = 8;
      const int thread = static_cast<int>(threadIdx.x);
      const int column = thread / 32 % 4 * at_once + thread % at_once;
      const int first = (thread / 128 * 2 + thread % 32 / at_once) * own_rows;
      double sums[3]{};
#pragma unroll
      for (int row = 0; row < own_rows + 2; ++row)
      {
#pragma unroll
        for (int dz = 0; dz < 3; ++dz)
        {
          const double *const place = planes_of.at[dz] + (first + row) * ld + column;
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
        sums[2] = 0.;
      }
    }

  private:
    const PlaneWeights &weights_;
  };

  template <typename Arithmetic>
  __device__ void march(const PlaneWeights &weights, const PlaneGrid &n,
      const double *__restrict__ from, double *__restrict__ to)
  {
    auto *const ring = reinterpret_cast<double *>(dynamic_shared());
    const PlaneTile tile{static_cast<std::int64_t>(blockIdx.x) * plane_x,
        static_cast<std::int64_t>(blockIdx.y) * plane_y};
    const std::int64_t begin = blockIdx.z * n.march;
    const std::int64_t end = begin + n.march < n.z ? begin + n.march : n.z;
    const Arithmetic arithmetic(weights);
    // Plane z lies at place (z - begin + 1) modulo 4.
    const auto plane = [&](std::int64_t z) { return ring + (z - begin + 1) % planes * plane_size; };
    Loader loader(n, tile);
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

  template <typename Arithmetic>
  __global__ void __launch_bounds__(threads, 2)
      planes_kernel(const __grid_constant__ PlaneWeights weights, PlaneGrid n,
          const double *__restrict__ from, double *__restrict__ to)
  {
    if constexpr (Arithmetic::is_available)
      march<Arithmetic>(weights, n, from, to);
  }

  template <typename Arithmetic>
  void launch_planes(
      const PlaneWeights &weights, const Grid &grid, const double *from, double *to, Stream stream)
  {
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
        dim3(threads), shared_bytes, stream, weights, PlaneGrid{nx, ny, nz, length}, from, to);
  }

  template <bool box>
  void launch_unit(const PlaneWeights &weights, const Grid &grid, TileUnit unit, const double *from,
      double *to, Stream stream)
  {
    using Small = mma::M8N8K4<double>;
    using Large = mma::M16N8K4<double>;
    switch (unit)
    {
      case TileUnit::fma:
        return launch_planes<ByFma<box>>(weights, grid, from, to, stream);
      case TileUnit::m8n8k4:
        return launch_planes<ByMma<Small, box>>(weights, grid, from, to, stream);
      case TileUnit::m16n8k4:
        tensor::require_compiled_for(Large::min_capability, planes_kernel<ByMma<Large, box>>);
        return launch_planes<ByMma<Large, box>>(weights, grid, from, to, stream);
    }
  }
} // namespace

void cuda_planes(const Stencil &stencil, const Grid &grid, TileUnit unit, const double *from,
    double *to, Stream stream)
{
  if (stencil.dim != 3 || stencil.radius != 1)
    throw std::invalid_argument("a stencil in " + std::to_string(stencil.dim) + "D of radius " +
        std::to_string(stencil.radius) + "; planes are there in 3D for radius 1");
  if (grid.size() == 0)
    return;
  PlaneWeights weights{};
  bool box = false;
  for (int t = 0; t < stencil.n_taps; ++t)
  {
    const Tap &tap = stencil.taps[static_cast<std::size_t>(t)];
    weights.at[tap.offset[2] + 1][tap.offset[1] + 1][tap.offset[0] + 1] += tap.weight;
    box = box || (tap.offset[0] != 0) + (tap.offset[1] != 0) + (tap.offset[2] != 0) > 1;
  }
  if (box)
    launch_unit<true>(weights, grid, unit, from, to, stream);
  else
    launch_unit<false>(weights, grid, unit, from, to, stream);
}
} // namespace tensormg::stencil
