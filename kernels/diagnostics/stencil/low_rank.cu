// One step of a 2D stencil whose weights are a sum of few products of a column and a row (low_rank.h), by tensor cores:
//   Y_r = U_r X,   out = sum over r of Y_r V_r,
// with banded matrices U_r and V_r of the columns and rows. The accumulators of the first product are the left factor of
// the second in the lanes where they are (kernels/mma/chaining.h), so that nothing goes through shared memory between.
// The Y of 8 columns serve the results of those columns and of the 8 before.
//
// And by CUDA cores, the same sums from the same tile: Y of other columns come from other lanes by shuffles.
#include "kernels/diagnostics/stencil/band.cuh"
#include "kernels/diagnostics/stencil/low_rank.h"
#include "kernels/diagnostics/stencil/store_pair.cuh"
#include "kernels/diagnostics/stencil/tile.cuh"
#include "kernels/mma/chaining.h"
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

  /// Rows of X for one product, in steps of 4, are as many beyond m + 2 radius for m = 8 as for m = 16.
  template <int radius>
  using LowRankTile = TileOf<double, radius, 8, padded_input(8, radius, 4) - 8 - 2 * radius>;

  template <typename S, typename W>
  struct Products
  {
    static constexpr int radius = W::radius, terms = W::terms;
    /// Rows of X for one product, in steps of S::k.
    static constexpr int rows = padded_input(S::m, radius, S::k), row_chunks = rows / S::k;
    using Tile = LowRankTile<radius>;
    static_assert(Tile::rows == tile_y + rows - S::m);
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

  /// Tensor cores.
  template <typename S>
  struct ByMma
  {
    static constexpr bool is_available = mma::is_available<S>;
    static constexpr int min_capability = S::min_capability;

    template <typename W>
    static __device__ void apply(const W &weights, const TileGrid &n, std::int64_t x0,
        std::int64_t y0, const double *tile, double *to)
    {
      using P = Products<S, W>;
      const int lane = static_cast<int>(threadIdx.x) % 32,
                warp = static_cast<int>(threadIdx.x) / 32;
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
  };

  constexpr unsigned all_lanes = 0xffffffffu;

  /// Sums along y of the 8 columns beyond those of a warp, in its 8 rows: a lane has those of a column and two rows.
  template <typename W>
  class Beyond
  {
  public:
    static constexpr int columns = 8, rows = 8;
    static_assert(2 * W::radius <= columns);

    __device__ Beyond(const W &weights, int lane, const double *place)
    {
#pragma unroll
      for (int part = 0; part < parts; ++part)
#pragma unroll
        for (int k = 0; k < W::width; ++k)
        {
          const double x =
              place[(lane / columns + part * rows_at_once + k) * LowRankTile<W::radius>::ld +
                  lane % columns];
#pragma unroll
          for (int r = 0; r < W::terms; ++r)
            sums_[r][part] += weights.column[r][k] * x;
        }
    }

    /// Two neighbours of a row: columns 2 lane and 2 lane + 1, modulo 8.
    __device__ double2 get(int r, int row, int lane) const
    {
      const int holder = row % rows_at_once * columns + 2 * lane % columns;
      const double sum = sums_[r][row / rows_at_once];
      return {__shfl_sync(all_lanes, sum, holder), __shfl_sync(all_lanes, sum, holder + 1)};
    }

  private:
    static constexpr int rows_at_once = 32 / columns, parts = rows / rows_at_once;
    double sums_[W::terms][parts]{};
  };

  /// CUDA cores: a warp has 64 columns and 8 rows, a lane two neighbouring columns; rows pass through its registers.
  struct ByFma
  {
    static constexpr bool is_available = true;
    static constexpr int warp_columns = 64, warps_x = tile_x / warp_columns,
                         warp_rows = tile_y * warps_x / tile_warps;
    static_assert(warp_columns == 2 * 32 && warp_rows == 8);

    template <typename W>
    static __device__ void apply(const W &weights, const TileGrid &n, std::int64_t x0,
        std::int64_t y0, const double *tile, double *to)
    {
      using Tile = LowRankTile<W::radius>;
      constexpr int radius = W::radius, width = W::width;
      const int lane = static_cast<int>(threadIdx.x) % 32,
                warp = static_cast<int>(threadIdx.x) / 32;
      const int row = warp / warps_x * warp_rows, first = warp % warps_x * warp_columns;
      const double *const place = tile + row * Tile::ld + first;
      const Beyond<W> beyond(weights, lane, place + warp_columns);
      double2 x[width]{};
#pragma unroll
      for (int i = 0; i < warp_rows + 2 * radius; ++i)
      {
#pragma unroll
        for (int k = 0; k + 1 < width; ++k)
          x[k] = x[k + 1];
        x[width - 1] = *reinterpret_cast<const double2 *>(place + i * Tile::ld + 2 * lane);
        const int result = i - 2 * radius;
        if (result < 0)
          continue;
        double2 out{};
#pragma unroll
        for (int r = 0; r < W::terms; ++r)
        {
          const double2 behind = beyond.get(r, result, lane);
          double y[2 + 2 * radius]{};
#pragma unroll
          for (int k = 0; k < width; ++k)
          {
            y[0] += weights.column[r][k] * x[k].x;
            y[1] += weights.column[r][k] * x[k].y;
          }
          // Those of the lanes behind; of the last lanes these are the first ones, which give what lies beyond.
#pragma unroll
          for (int d = 1; d <= radius; ++d)
          {
            y[2 * d] = __shfl_sync(all_lanes, lane < d ? behind.x : y[0], lane + d);
            y[2 * d + 1] = __shfl_sync(all_lanes, lane < d ? behind.y : y[1], lane + d);
          }
#pragma unroll
          for (int k = 0; k < width; ++k)
          {
            out.x += weights.row[r][k] * y[k];
            out.y += weights.row[r][k] * y[k + 1];
          }
        }
        store_pair(out, n.x, n.y, x0 + first + 2 * lane, y0 + row + result, to);
      }
    }
  };

  template <typename Arithmetic, typename W>
  __global__ void __launch_bounds__(tile_threads) low_rank_kernel(const __grid_constant__ W weights,
      TileGrid n, const double *__restrict__ from, double *__restrict__ to)
  {
    if constexpr (Arithmetic::is_available)
    {
      auto *const tile = reinterpret_cast<double *>(dynamic_shared());
      const std::int64_t x0 = static_cast<std::int64_t>(blockIdx.x) * tile_x;
      const std::int64_t y0 = static_cast<std::int64_t>(blockIdx.y) * tile_y;
      load_tile<LowRankTile<W::radius>, W::radius>(n, x0, y0, from, tile);
      Arithmetic::apply(weights, n, x0, y0, tile, to);
    }
  }

  /// What a launch needs.
  struct Task
  {
    const LowRank &weights;
    const Grid &grid;
    const double *from;
    double *to;
    Stream stream;
  };

  template <typename Arithmetic, int radius, int terms>
  void run(const Task &task)
  {
    using W = Terms<radius, terms>;
    W given{};
    for (int r = 0; r < terms; ++r)
      for (int i = 0; i < W::width; ++i)
      {
        const auto term = static_cast<std::size_t>(r), at = static_cast<std::size_t>(i);
        given.column[r][i] = task.weights.column[term][at];
        given.row[r][i] = task.weights.row[term][at];
      }
    const auto kernel = low_rank_kernel<Arithmetic, W>;
    if constexpr (requires { Arithmetic::min_capability; })
      tensor::require_compiled_for(Arithmetic::min_capability, kernel);
    launch_on_tiles("launching the stencil of low rank", kernel, LowRankTile<radius>::shared_bytes,
        task.grid, given, task.from, task.to, task.stream);
  }

  template <typename Arithmetic>
  void run_radius(const Task &task, int radius)
  {
    const int rank = task.weights.rank;
    if (radius == 1)
      return run<Arithmetic, 1, 1>(task);
    if (radius == 2)
      return rank <= 1 ? run<Arithmetic, 2, 1>(task) : run<Arithmetic, 2, 2>(task);
    switch (rank)
    {
      case 0:
      case 1:
        return run<Arithmetic, 3, 1>(task);
      case 2:
        return run<Arithmetic, 3, 2>(task);
      default:
        return run<Arithmetic, 3, 3>(task);
    }
  }
} // namespace

void cuda_low_rank(const Stencil &stencil, const Grid &grid, TileUnit unit, const double *from,
    double *to, Stream stream)
{
  const LowRank weights = require_low_rank(stencil);
  if (grid.size() == 0)
    return;
  const Task task{weights, grid, from, to, stream};
  switch (unit)
  {
    case TileUnit::fma:
      return run_radius<ByFma>(task, stencil.radius);
    case TileUnit::m8n8k4:
      return run_radius<ByMma<mma::M8N8K4<double>>>(task, stencil.radius);
    case TileUnit::m16n8k4:
      return run_radius<ByMma<mma::M16N8K4<double>>>(task, stencil.radius);
  }
}
} // namespace tensormg::stencil
