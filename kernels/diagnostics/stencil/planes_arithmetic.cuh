// What multiplies in a march along z (planes.cuh). For each of the rows of weights along x, the sums over the row are a
// product of the plane with a banded matrix, as in tile.cu; in single precision with factors in TF32, corrected or not; and
// on CUDA cores. A plane is read once for all planes of the result that it goes into.
#pragma once

#include "kernels/diagnostics/stencil/band.cuh"
#include "kernels/diagnostics/stencil/planes.cuh"
#include "kernels/diagnostics/stencil/store_sums.cuh"
#include "kernels/diagnostics/stencil/tf32_factor.cuh"
#include "kernels/mma/instructions.cuh"

namespace tensormg::stencil
{
/// Steps of 4 of a product: 8 + 2 radius columns, padded.
constexpr int plane_chunks(int radius) { return (8 + 2 * radius + 3) / 4; }

template <int radius>
using ProductLayout = PlaneLayout<radius, plane_x - 8 + 4 * plane_chunks(radius)>;

/// The banded matrices of the rows of weights, in shared memory, where every lane has its own entries: registers are needed for
/// sums.
template <typename Factor, int radius, bool box>
class Bands
{
  static constexpr int width = 2 * radius + 1, chunks = plane_chunks(radius);

public:
  static constexpr int table_bytes = width * width * chunks * 32 * static_cast<int>(sizeof(Factor));

  /// make(weights of a row, begin of the band, lane), by all threads of a block together.
  template <typename Number, typename Make>
  __device__ Bands(const PlaneWeights<Number, width> &weights, void *table, int lane, Make make)
    : own_(static_cast<Factor *>(table) + lane)
  {
    for (int i = static_cast<int>(threadIdx.x) / 32; i < width * width * chunks; i += plane_warps)
      if (const int row = i / chunks; has_row<radius, box>(row / width, row % width))
        own_[i * 32] = make(weights.at[row / width][row % width], i % chunks * 4, lane);
  }

  __device__ Factor get(int dz, int dy, int chunk) const
  {
    return own_[((dz * width + dy) * chunks + chunk) * 32];
  }

private:
  Factor *own_;
};

/// Sums of a warp with 8 columns: of `width` planes, `groups` times S::m rows.
template <typename S, int width>
struct PlaneSums
{
  static constexpr int groups = plane_y / S::m;
  mma::FragmentC<S> at[width][groups];

  __device__ void shift()
  {
#pragma unroll
    for (int k = 0; k < width; ++k)
#pragma unroll
      for (int group = 0; group < groups; ++group)
        at[k][group] = k + 1 < width ? at[k + 1 < width ? k + 1 : k][group] : mma::FragmentC<S>{};
  }
};

/// Tensor cores: a warp has 8 columns.
template <typename S, int radius, bool box>
class ByMma
{
public:
  using Number = double;
  using Layout = ProductLayout<radius>;
  static constexpr int width = Layout::width, chunks = plane_chunks(radius);
  using Sums = PlaneSums<S, width>;
  using BandsOf = Bands<mma::FragmentB<S>, radius, box>;
  static constexpr int table_bytes = BandsOf::table_bytes;
  static constexpr bool is_available = mma::is_available<S>;
  static_assert(S::k == 4 && S::n == 8 && plane_y % S::m == 0 && plane_x == 8 * plane_warps);

  __device__ ByMma(const PlaneWeights<double, width> &weights, void *table)
    : bands_(weights, table, lane_, [](const double (&row)[width], int first, int lane) {
      return mma::make_fragment<S, mma::Operand::b>(
          lane, [&](int k, int j) { return band(row, first + k - j); });
    })
  {}

  __device__ void add(const double *plane, Sums &sums) const
  {
#pragma unroll
    for (int dy = 0; dy < width; ++dy)
#pragma unroll
      for (int chunk = 0; chunk < chunks; ++chunk)
      {
        mma::FragmentA<S> a[Sums::groups];
#pragma unroll
        for (int group = 0; group < Sums::groups; ++group)
        {
          const double *const part =
              plane + (group * S::m + dy) * Layout::ld + column() + 4 * chunk;
          a[group] = mma::make_fragment<S, mma::Operand::a>(
              lane_, [&](int i, int k) { return part[i * Layout::ld + k]; });
        }
#pragma unroll
        for (int dz = 0; dz < width; ++dz)
          if (has_row<radius, box>(dz, dy))
          {
            const auto factor = bands_.get(dz, dy, chunk);
#pragma unroll
            for (int group = 0; group < Sums::groups; ++group)
              mma::mma_sync(sums.at[width - 1 - dz][group], a[group], factor);
          }
      }
  }

  __device__ void store(
      const Sums &sums, const PlaneGrid &n, const PlaneTile &tile, double *plane) const
  {
#pragma unroll
    for (int group = 0; group < Sums::groups; ++group)
      store_sums(
          sums.at[0][group], lane_, n.x, n.y, tile.x0 + column(), tile.y0 + group * S::m, plane);
  }
  static __device__ void shift(Sums &sums) { sums.shift(); }

private:
  static __device__ int column() { return static_cast<int>(threadIdx.x) / 32 * 8; }

  int lane_ = static_cast<int>(threadIdx.x) % 32;
  BandsOf bands_;
};

/// Tensor cores in single precision, likewise. The sums over a row of weights are added outside of the unit.
template <bool corrected, int radius, bool box>
class ByTf32
{
  using S = mma::M16N8K4<Tf32>;

public:
  using Number = float;
  using Layout = ProductLayout<radius>;
  static constexpr int width = Layout::width, chunks = plane_chunks(radius);
  struct Sums
  {
    PlaneSums<S, width> large, corrections;
  };
  using BandsOf = Bands<Factor<mma::FragmentB<S>>, radius, box>;
  static constexpr int table_bytes = BandsOf::table_bytes;
  static constexpr bool is_available = mma::is_available<S>;

  __device__ ByTf32(const PlaneWeights<float, width> &weights, void *table)
    : bands_(weights, table, lane_, [](const float (&row)[width], int first, int lane) {
      return Factor<mma::FragmentB<S>>(
          lane, [&](int k, int j) { return band(row, first + k - j); });
    })
  {}

  __device__ void add(const float *plane, Sums &sums) const
  {
    constexpr int groups = PlaneSums<S, width>::groups;
#pragma unroll
    for (int dy = 0; dy < width; ++dy)
#pragma unroll
      for (int group = 0; group < groups; ++group)
      {
        Factor<mma::FragmentA<S>> a[chunks];
#pragma unroll
        for (int chunk = 0; chunk < chunks; ++chunk)
        {
          const float *const part = plane + (group * S::m + dy) * Layout::ld + column() + 4 * chunk;
          a[chunk] = Factor<mma::FragmentA<S>>(
              lane_, [&](int i, int k) { return part[i * Layout::ld + k]; });
        }
#pragma unroll
        for (int dz = 0; dz < width; ++dz)
          if (has_row<radius, box>(dz, dy))
          {
            mma::FragmentC<S> row_sum{};
#pragma unroll
            for (int chunk = 0; chunk < chunks; ++chunk)
              multiply<corrected>(row_sum, sums.corrections.at[width - 1 - dz][group], a[chunk],
                  bands_.get(dz, dy, chunk));
            stencil::add(sums.large.at[width - 1 - dz][group], row_sum);
          }
      }
  }

  __device__ void store(
      const Sums &sums, const PlaneGrid &n, const PlaneTile &tile, float *plane) const
  {
#pragma unroll
    for (int group = 0; group < PlaneSums<S, width>::groups; ++group)
    {
      mma::FragmentC<S> sum = sums.large.at[0][group];
      stencil::add(sum, sums.corrections.at[0][group]);
      store_sums(sum, lane_, n.x, n.y, tile.x0 + column(), tile.y0 + group * S::m, plane);
    }
  }
  static __device__ void shift(Sums &sums)
  {
    sums.large.shift();
    sums.corrections.shift();
  }

private:
  static __device__ int column() { return static_cast<int>(threadIdx.x) / 32 * 8; }

  int lane_ = static_cast<int>(threadIdx.x) % 32;
  BandsOf bands_;
};

/// CUDA cores: a lane has a column and eight rows.
template <typename Number_, int radius, bool box>
class ByFma
{
  static constexpr int at_once = 16, own_rows = 8; ///< lanes beside each other; rows of a lane

public:
  using Number = Number_;
  using Layout = ProductLayout<radius>;
  static constexpr int width = Layout::width, table_bytes = 0;
  struct Sums
  {
    Number at[width][own_rows];
  };
  static constexpr bool is_available = true;

  __device__ ByFma(const PlaneWeights<Number, width> &weights, const void *)
    : weights_(weights)
  {}

  __device__ void add(const Number *plane, Sums &sums) const
  {
#pragma unroll
    for (int row = 0; row < own_rows + 2 * radius; ++row)
#pragma unroll
      for (int dx = 0; dx < width; ++dx)
      {
        const Number value = plane[(first_row() + row) * Layout::ld + column() + dx];
#pragma unroll
        for (int dy = 0; dy < width; ++dy)
#pragma unroll
          for (int dz = 0; dz < width; ++dz)
            if (row - dy >= 0 && row - dy < own_rows && has_tap<radius, box>(dz, dy, dx))
              sums.at[width - 1 - dz][row - dy] += weights_.at[dz][dy][dx] * value;
      }
  }

  __device__ void store(
      const Sums &sums, const PlaneGrid &n, const PlaneTile &tile, Number *plane) const
  {
    const std::int64_t x = tile.x0 + column(), y = tile.y0 + first_row();
#pragma unroll
    for (int row = 0; row < own_rows; ++row)
      if (x < n.x && y + row < n.y)
        plane[(y + row) * n.x + x] = sums.at[0][row];
  }
  static __device__ void shift(Sums &sums)
  {
#pragma unroll
    for (int k = 0; k < width; ++k)
#pragma unroll
      for (int row = 0; row < own_rows; ++row)
        sums.at[k][row] = k + 1 < width ? sums.at[k + 1 < width ? k + 1 : k][row] : Number(0);
  }

private:
  static __device__ int column()
  {
    const int thread = static_cast<int>(threadIdx.x);
    return thread / 32 % 4 * at_once + thread % at_once;
  }
  static __device__ int first_row()
  {
    const int thread = static_cast<int>(threadIdx.x);
    return (thread / 128 * 2 + thread % 32 / at_once) * own_rows;
  }

  const PlaneWeights<Number, width> &weights_;
};
} // namespace tensormg::stencil
