// One step of a 3D stencil of radius 1 whose weights are a column along y times a plane of weights, on tiles that march
// along z, by tensor cores: of every plane of the grid the sums along y, Y = U X, are formed once, and go with three
// different bands V into the sums of three planes of the result, out += Y V, as in low_rank.cu. Four products of a band
// instead of nine, and a plane is read for one of them. And by CUDA cores the same sums from the same places.
#include "kernels/diagnostics/stencil/band.cuh"
#include "kernels/diagnostics/stencil/low_rank.h"
#include "kernels/diagnostics/stencil/planes_launch.cuh"
#include "kernels/diagnostics/stencil/store_pair.cuh"
#include "kernels/mma/chaining.h"

namespace tensormg::stencil
{
namespace
{
  struct ColumnAndPlane
  {
    double column[3];   ///< [dy]
    double plane[3][3]; ///< [dz][dx]
  };

  /// A warp of tensor cores reads 24 columns for 16. Rows of X for one product, in steps of 4, are as many beyond m + 2
  /// for m = 8 as for m = 16.
  using LowRankLayout = PlaneLayout<1, plane_x + 8, 2>;

  /// A warp has 16 columns and 16 rows.
  template <typename S>
  class ByLowRank
  {
    /// Rows of X for one product, in steps of 4.
    static constexpr int rows = (S::m + 2 + 3) / 4 * 4, chunks = rows / 4;
    static constexpr int warps_x = 4, groups = 16 / S::m, blocks = 2;
    static_assert(warps_x * 8 * blocks == plane_x && plane_warps / warps_x * 16 == plane_y);
    static_assert(S::k == 4 && S::n == 8 && mma::n_chain_steps<S> == 2);
    using Sum = mma::FragmentC<S>;
    using Across = mma::FragmentB<S>; ///< of V: [dz][own columns and those after them][step]

  public:
    using Number = double;
    using Layout = LowRankLayout;
    static_assert(Layout::size == (plane_y + rows - S::m) * Layout::ld);
    static constexpr int table_bytes = 3 * 2 * 2 * 32 * static_cast<int>(sizeof(Across));
    static constexpr bool is_available = mma::is_available<S>;
    struct Sums
    {
      Sum at[3][groups][blocks];
    };

    __device__ ByLowRank(const ColumnAndPlane &weights, void *table)
      : across_(static_cast<Across *>(table) + lane_)
    {
#pragma unroll
      for (int chunk = 0; chunk < chunks; ++chunk)
        mma::map(down_[chunk], lane_,
            [&](int i, int k) { return band(weights.column, 4 * chunk + k - i); });
      for (int i = static_cast<int>(threadIdx.x) / 32; i < 12; i += plane_warps)
        across_[i * 32] = mma::make_fragment<S, mma::Operand::b>(lane_, [&](int k, int j) {
          return band(weights.plane[i / 4], 8 * (i / 2 % 2) + mma::source_column<S>(i % 2, k) - j);
        });
    }

    __device__ void add(const double *plane, Sums &sums) const
    {
#pragma unroll
      for (int group = 0; group < groups; ++group)
      {
        const double *const place = plane + (row() + group * S::m) * Layout::ld + column();
        Sum own = sums_along_y(place);
#pragma unroll
        for (int block = 0; block < blocks; ++block)
        {
          const Sum after = sums_along_y(place + 8 * (block + 1));
#pragma unroll
          for (int dz = 0; dz < 3; ++dz)
          {
            add(sums.at[2 - dz][group][block], own, dz, 0);
            add(sums.at[2 - dz][group][block], after, dz, 1);
          }
          own = after;
        }
      }
    }

    __device__ void store(
        const Sums &sums, const PlaneGrid &n, const PlaneTile &tile, double *plane) const
    {
#pragma unroll
      for (int group = 0; group < groups; ++group)
#pragma unroll
        for (int block = 0; block < blocks; ++block)
          store_sums(sums.at[0][group][block], lane_, n.x, n.y, tile.x0 + column() + 8 * block,
              tile.y0 + row() + group * S::m, plane);
    }

    static __device__ void shift(Sums &sums)
    {
#pragma unroll
      for (int group = 0; group < groups; ++group)
#pragma unroll
        for (int block = 0; block < blocks; ++block)
        {
          sums.at[0][group][block] = sums.at[1][group][block];
          sums.at[1][group][block] = sums.at[2][group][block];
          sums.at[2][group][block] = Sum{};
        }
    }

  private:
    static __device__ int warp() { return static_cast<int>(threadIdx.x) / 32; }
    static __device__ int column() { return warp() % warps_x * 8 * blocks; }
    static __device__ int row() { return warp() / warps_x * 16; }

    /// Y of 8 columns.
    __device__ Sum sums_along_y(const double *place) const
    {
      Sum sum{};
#pragma unroll
      for (int chunk = 0; chunk < chunks; ++chunk)
      {
        const auto x = mma::make_fragment<S, mma::Operand::b>(
            lane_, [&](int k, int j) { return place[(4 * chunk + k) * Layout::ld + j]; });
        mma::mma_sync(sum, down_[chunk], x);
      }
      return sum;
    }

    /// out += Y V
    __device__ void add(Sum &out, const Sum &y, int dz, int half) const
    {
      const Sum tiles[1] = {y};
      mma::mma_sync(out, mma::a_from_accumulators<S, 0>(tiles), across_[(dz * 4 + half * 2) * 32]);
      mma::mma_sync(
          out, mma::a_from_accumulators<S, 1>(tiles), across_[(dz * 4 + half * 2 + 1) * 32]);
    }

    int lane_ = static_cast<int>(threadIdx.x) % 32;
    mma::FragmentA<S> down_[chunks];
    Across *across_;
  };

  /// CUDA cores: a warp has 64 columns and 4 rows, a lane two neighbouring columns; it forms the sums along y of four.
  class ByLowRankFma
  {
    static constexpr int own_rows = 4;
    static_assert(2 * 32 == plane_x && plane_warps * own_rows == plane_y);

  public:
    using Number = double;
    using Layout = LowRankLayout;
    static constexpr int table_bytes = 0;
    static constexpr bool is_available = true;
    struct Sums
    {
      double2 at[3][own_rows];
    };

    __device__ ByLowRankFma(const ColumnAndPlane &weights, const void *)
      : weights_(weights)
    {}

    __device__ void add(const double *plane, Sums &sums) const
    {
      const double *const place = plane + first_row() * Layout::ld + column();
      double x[3][4]{}; // rows pass through
#pragma unroll
      for (int i = 0; i < own_rows + 2; ++i)
      {
        const auto *const pairs = reinterpret_cast<const double2 *>(place + i * Layout::ld);
        const double2 left = pairs[0], right = pairs[1];
        const double row[4] = {left.x, left.y, right.x, right.y};
        double y[4];
#pragma unroll
        for (int c = 0; c < 4; ++c)
        {
          x[0][c] = x[1][c];
          x[1][c] = x[2][c];
          x[2][c] = row[c];
          y[c] = weights_.column[0] * x[0][c] + weights_.column[1] * x[1][c] +
              weights_.column[2] * x[2][c];
        }
        if (i < 2)
          continue;
#pragma unroll
        for (int dz = 0; dz < 3; ++dz)
#pragma unroll
          for (int dx = 0; dx < 3; ++dx)
          {
            double2 &sum = sums.at[2 - dz][i - 2];
            sum.x += weights_.plane[dz][dx] * y[dx];
            sum.y += weights_.plane[dz][dx] * y[dx + 1];
          }
      }
    }

    __device__ void store(
        const Sums &sums, const PlaneGrid &n, const PlaneTile &tile, double *plane) const
    {
#pragma unroll
      for (int row = 0; row < own_rows; ++row)
        store_pair(
            sums.at[0][row], n.x, n.y, tile.x0 + column(), tile.y0 + first_row() + row, plane);
    }

    static __device__ void shift(Sums &sums)
    {
#pragma unroll
      for (int row = 0; row < own_rows; ++row)
      {
        sums.at[0][row] = sums.at[1][row];
        sums.at[1][row] = sums.at[2][row];
        sums.at[2][row] = double2{};
      }
    }

  private:
    static __device__ int column() { return static_cast<int>(threadIdx.x) % 32 * 2; }
    static __device__ int first_row() { return static_cast<int>(threadIdx.x) / 32 * own_rows; }

    const ColumnAndPlane &weights_;
  };

  template <typename S>
  void run(const ColumnAndPlane &weights, const Grid &grid, const double *from, double *to,
      Stream stream)
  {
    tensor::require_compiled_for(S::min_capability, planes_kernel<ByLowRank<S>, ColumnAndPlane>);
    launch_planes<ByLowRank<S>>(weights, grid, from, to, stream);
  }
} // namespace

void cuda_low_rank_planes(const Stencil &stencil, const Grid &grid, TileUnit unit,
    const double *from, double *to, Stream stream)
{
  const LowRankPlanes factors = require_low_rank_planes(stencil);
  if (grid.size() == 0)
    return;
  ColumnAndPlane weights{};
  for (std::size_t i = 0; i < 3; ++i)
  {
    weights.column[i] = factors.column[i];
    for (std::size_t dx = 0; dx < 3; ++dx)
      weights.plane[i][dx] = factors.plane[i][dx];
  }
  switch (unit)
  {
    case TileUnit::fma:
      return launch_planes<ByLowRankFma>(weights, grid, from, to, stream);
    case TileUnit::m8n8k4:
      return run<mma::M8N8K4<double>>(weights, grid, from, to, stream);
    case TileUnit::m16n8k4:
      return run<mma::M16N8K4<double>>(weights, grid, from, to, stream);
  }
}
} // namespace tensormg::stencil
