// Planes of a 3D grid in shared memory with a rim, zero outside of the grid: how the kernels of planes.cu bring them.
#pragma once

#include <cstdint>

#include "kernels/mma/bank_conflicts.h"
#include "kernels/mma/shared_layout.h"

namespace tensormg::stencil
{
inline constexpr int plane_threads = 256, plane_warps = plane_threads / 32;
inline constexpr int plane_x = 64, plane_y = 32; ///< points of a tile
/// What is in shared memory of a plane: 8 + 2 columns of the input, padded to steps of 4, for the last 8 of the result.
inline constexpr int plane_columns = plane_x + 4, plane_rows = plane_y + 2,
                     plane_ld = plane_columns;
inline constexpr int plane_size = plane_rows * plane_ld, planes_in_ring = 4;
static_assert(
    mma::fragment_wavefronts<mma::M16N8K4<double>, mma::Operand::a>(mma::RowMajor<plane_ld>())
            .conflicts() == 0 &&
    mma::fragment_wavefronts<mma::M16N8K4<Tf32>, mma::Operand::a>(mma::RowMajor<plane_ld>())
            .conflicts() == 0);

template <typename Number>
struct PlaneWeights
{
  Number at[3][3][3]; ///< [dz][dy][dx]
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

template <typename Number>
__device__ void store(
    const PlaneGrid &n, std::int64_t x, std::int64_t y, std::int64_t z, Number value, Number *to)
{
  if (x < n.x && y < n.y)
    to[(z * n.y + y) * n.x + x] = value;
}

/// What a thread brings of a plane: one column of plane_x every rows_at_once rows, and one number of the columns
/// behind these.
template <typename Number>
class PlaneLoader
{
public:
  __device__ PlaneLoader(const PlaneGrid &n, const PlaneTile &tile)
    : n_(n)
    , x_(tile.x0 - 1 + lane())
    , y_(tile.y0 - 1 + first_row())
    , rest_x_(tile.x0 - 1 + plane_x + static_cast<int>(threadIdx.x) % rest_columns)
    , rest_y_(tile.y0 - 1 + static_cast<int>(threadIdx.x) / rest_columns)
    , has_rest_(
          threadIdx.x < rest_columns * plane_rows && rest_x_ < n.x && rest_y_ >= 0 && rest_y_ < n.y)
  {}

  /// Zero outside of the grid.
  __device__ void load(std::int64_t z, const Number *from)
  {
    const bool exists = z >= 0 && z < n_.z, in_columns = exists && x_ >= 0 && x_ < n_.x;
    const Number *const plane = from + z * n_.y * n_.x;
#pragma unroll
    for (int i = 0; i < loads; ++i)
    {
      const std::int64_t y = y_ + i * rows_at_once;
      const bool is_inside =
          in_columns && first_row() + i * rows_at_once < plane_rows && y >= 0 && y < n_.y;
      values_[i] = is_inside ? __ldg(plane + y * n_.x + x_) : Number(0);
    }
    rest_ = exists && has_rest_ ? __ldg(plane + rest_y_ * n_.x + rest_x_) : Number(0);
  }

  __device__ void keep(Number *plane) const
  {
#pragma unroll
    for (int i = 0; i < loads; ++i)
      if (const int row = first_row() + i * rows_at_once; row < plane_rows)
        plane[row * plane_ld + lane()] = values_[i];
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < rest_columns * plane_rows)
      plane[thread / rest_columns * plane_ld + plane_x + thread % rest_columns] = rest_;
  }

private:
  static constexpr int rows_at_once = plane_threads / plane_x,
                       rest_columns = plane_columns - plane_x;
  static constexpr int loads = (plane_rows + rows_at_once - 1) / rows_at_once;
  static_assert(rest_columns * plane_rows <= plane_threads);
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % plane_x; }
  static __device__ int first_row() { return static_cast<int>(threadIdx.x) / plane_x; }

  PlaneGrid n_;
  std::int64_t x_, y_, rest_x_, rest_y_;
  bool has_rest_;
  Number values_[loads], rest_ = 0;
};

/// Three planes, dz = 0, 1, 2.
template <typename Number>
struct Planes
{
  const Number *at[3];
};
} // namespace tensormg::stencil
