// One step of a 2D stencil whose weights are a sum of few products of a column and a row (low_rank.h), by tensor cores:
//   Y_r = U_r X,   out = sum over r of Y_r V_r,
// with banded matrices U_r and V_r of the columns and rows. The accumulators of the first product are the left factor of
// the second in the lanes where they are (kernels/mma/chaining.h), so that nothing goes through shared memory between.
// The Y of 8 columns serve the results of those columns and of the 8 before.
#include <stdexcept>
#include <string>

#include "kernels/mma/chaining.h"
#include "kernels/stencil/low_rank.h"
#include "kernels/stencil/tile.cuh"
#include "kernels/tensor/device_resources.cuh"

namespace tensormg::stencil
{
namespace
{
  /// `terms` may have zeros: then less of them are computed for nothing.
  template <int radius_, int terms_>
  struct Terms
  {
    static constexpr int radius = radius_, width = 2 * radius + 1, terms = terms_;
    double column[terms][width], row[terms][width];
  };

  /// The entry of a band at distance d from its begin.
  template <int width>
  __device__ double band(const double (&weights)[width], int d)
  {
    double weight = 0.;
#pragma unroll
    for (int w = 0; w < width; ++w)
      weight = w == d ? weights[w] : weight;
    return weight;
  }

  template <typename S, typename W>
  struct Products
  {
    static constexpr int radius = W::radius, terms = W::terms;
    /// Rows of X for one product, in steps of S::k.
    static constexpr int rows = padded_input(S::m, radius, S::k), row_chunks = rows / S::k;
    static constexpr int extra_rows = rows - S::m - 2 * radius;
    using Tile = TileOf<double, radius, 8, extra_rows>;
    static constexpr int warps_y = tile_y / S::m, warps_x = tile_warps / warps_y;
    static constexpr int warp_columns = tile_x / warps_x;
    static_assert(S::k == 4 && S::n == 8 && mma::n_chain_steps<S> == 2);
    using Sum = mma::FragmentC<S>;

    mma::FragmentA<S> down[terms][row_chunks];
    mma::FragmentB<S> across[terms][2][2]; ///< own columns and those after them, two steps each

    __device__ Products(const W &weights, int lane)
    {
#pragma unroll
      for (int r = 0; r < terms; ++r)
      {
#pragma unroll
        for (int chunk = 0; chunk < row_chunks; ++chunk)
          mma::map(down[r][chunk], lane,
              [&](int i, int k) { return band(weights.column[r], S::k * chunk + k - i); });
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int step = 0; step < 2; ++step)
            mma::map(across[r][half][step], lane, [&](int k, int j) {
              return band(weights.row[r], 8 * half + mma::source_column<S>(step, k) - j);
            });
      }
    }

    /// Y_r of 8 columns; `place` is the tile at the first row of the input and the first of the columns.
    __device__ Sum column_sums(int r, int lane, const double *place) const
    {
      Sum sum{};
#pragma unroll
      for (int chunk = 0; chunk < row_chunks; ++chunk)
      {
        const auto x = mma::make_fragment<S, mma::Operand::b>(
            lane, [&](int k, int j) { return place[(S::k * chunk + k) * Tile::ld + j]; });
        mma::mma_sync(sum, down[r][chunk], x);
      }
      return sum;
    }

    /// out += Y V, with Y of the own columns (half 0) or those after them.
    __device__ void add(Sum &out, const Sum &y, int r, int half) const
    {
      const Sum tiles[1] = {y};
      mma::mma_sync(out, mma::a_from_accumulators<S, 0>(tiles), across[r][half][0]);
      mma::mma_sync(out, mma::a_from_accumulators<S, 1>(tiles), across[r][half][1]);
    }
  };

  template <typename S, typename W>
  __device__ void apply(const W &weights, const TileGrid &n, std::int64_t x0, std::int64_t y0,
      const double *tile, double *to)
  {
    using P = Products<S, W>;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int row = warp / P::warps_x * S::m, first = warp % P::warps_x * P::warp_columns;
    const P products(weights, lane);
    const double *place = tile + row * P::Tile::ld + first;
    typename P::Sum y[P::terms];
#pragma unroll
    for (int r = 0; r < P::terms; ++r)
      y[r] = products.column_sums(r, lane, place);
#pragma unroll 1
    for (int column = first; column < first + P::warp_columns; column += S::n)
    {
      place += S::n;
      typename P::Sum out{};
#pragma unroll
      for (int r = 0; r < P::terms; ++r)
      {
        products.add(out, y[r], r, 0);
        y[r] = products.column_sums(r, lane, place);
        products.add(out, y[r], r, 1);
      }
      store_sums(out, lane, n.x, n.y, x0 + column, y0 + row, to);
    }
  }

  template <typename S, typename W>
  __global__ void __launch_bounds__(tile_threads) low_rank_kernel(const __grid_constant__ W weights,
      TileGrid n, const double *__restrict__ from, double *__restrict__ to)
  {
    if constexpr (mma::is_available<S>)
    {
      auto *const tile = reinterpret_cast<double *>(dynamic_shared());
      const std::int64_t x0 = static_cast<std::int64_t>(blockIdx.x) * tile_x;
      const std::int64_t y0 = static_cast<std::int64_t>(blockIdx.y) * tile_y;
      load_tile<typename Products<S, W>::Tile, W::radius>(n, x0, y0, from, tile);
      __syncthreads();
      apply<S>(weights, n, x0, y0, tile, to);
    }
  }

  template <typename S, int radius, int terms>
  void run(const LowRank &weights, const Grid &grid, const double *from, double *to, Stream stream)
  {
    using W = Terms<radius, terms>;
    W given{};
    for (int r = 0; r < terms; ++r)
      for (int i = 0; i < W::width; ++i)
      {
        given.column[r][i] =
            weights.column[static_cast<std::size_t>(r)][static_cast<std::size_t>(i)];
        given.row[r][i] = weights.row[static_cast<std::size_t>(r)][static_cast<std::size_t>(i)];
      }
    const auto kernel = low_rank_kernel<S, W>;
    tensor::require_compiled_for(S::min_capability, kernel);
    launch_on_tiles("launching the stencil of low rank", kernel, Products<S, W>::Tile::shared_bytes,
        grid, given, from, to, stream);
  }

  template <typename S>
  void run_radius(const LowRank &weights, int radius, const Grid &grid, const double *from,
      double *to, Stream stream)
  {
    if (radius == 1)
      return run<S, 1, 1>(weights, grid, from, to, stream);
    if (radius == 2)
      return weights.rank <= 1 ? run<S, 2, 1>(weights, grid, from, to, stream)
                               : run<S, 2, 2>(weights, grid, from, to, stream);
    switch (weights.rank)
    {
      case 0:
      case 1:
        return run<S, 3, 1>(weights, grid, from, to, stream);
      case 2:
        return run<S, 3, 2>(weights, grid, from, to, stream);
      default:
        return run<S, 3, 3>(weights, grid, from, to, stream);
    }
  }
} // namespace

void cuda_low_rank(const Stencil &stencil, const Grid &grid, TileUnit unit, const double *from,
    double *to, Stream stream)
{
  const LowRank weights = require_low_rank(stencil);
  if (grid.size() == 0)
    return;
  switch (unit)
  {
    case TileUnit::m8n8k4:
      return run_radius<mma::M8N8K4<double>>(weights, stencil.radius, grid, from, to, stream);
    case TileUnit::m16n8k4:
      return run_radius<mma::M16N8K4<double>>(weights, stencil.radius, grid, from, to, stream);
    case TileUnit::fma:
      break;
  }
  throw std::invalid_argument("the low-rank form is there for tensor cores");
}
} // namespace tensormg::stencil
