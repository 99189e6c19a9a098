// Planes of a 3D grid in shared memory with a rim, zero outside of the grid, and the march of a block along z: each plane
// goes into the sums of all planes of the result that it reaches, which stay in registers, so that it is read once and two
// places are enough, one for the plane that is used and one for the next.
#pragma once

#include <cstdint>

#include "kernels/core/shared_memory.cuh"
#include "kernels/mma/bank_conflicts.h"
#include "kernels/mma/shared_layout.h"

namespace tensormg::stencil
{
inline constexpr int plane_threads = 256, plane_warps = plane_threads / 32;
inline constexpr int plane_x = 64, plane_y = 32; ///< points of a tile

/// What is in shared memory of a plane. Products read columns and rows beyond the rim, times zero: these are zero.
template <int radius_, int columns_, int extra_rows = 0>
struct PlaneLayout
{
  static constexpr int radius = radius_, width = 2 * radius + 1;
  static constexpr int columns = plane_x + 2 * radius, rows = plane_y + 2 * radius; ///< loaded
  static constexpr int ld = (columns_ + 11) / 16 * 16 + 4; ///< 4 modulo 16: no conflicts
  static constexpr int size = (rows + extra_rows) * ld;
  static_assert(columns_ >= columns && ld >= columns_);
  static_assert(mma::fragment_wavefronts<mma::M16N8K4<double>, mma::Operand::a>(mma::RowMajor<ld>())
                    .conflicts() == 0 &&
      mma::fragment_wavefronts<mma::M16N8K4<Tf32>, mma::Operand::a>(mma::RowMajor<ld>())
              .conflicts() == 0);
};

template <typename Number, int width>
struct PlaneWeights
{
  Number at[width][width][width]; ///< [dz][dy][dx]
};

struct PlaneGrid
{
  std::int64_t x, y, z;
  std::int64_t march; ///< planes of the result per block
};

/// Rows of weights along x that there are: those of a star of radius 1, and of its steps fused, are no longer in sum than the
/// radius.
template <int radius, bool box>
constexpr bool has_row(int dz, int dy)
{
  const int z = dz < radius ? radius - dz : dz - radius,
            y = dy < radius ? radius - dy : dy - radius;
  return box || z + y <= radius;
}
template <int radius, bool box>
constexpr bool has_tap(int dz, int dy, int dx)
{
  const int x = dx < radius ? radius - dx : dx - radius;
  const int z = dz < radius ? radius - dz : dz - radius,
            y = dy < radius ? radius - dy : dy - radius;
  return box || x + y + z <= radius;
}

/// Where a block works.
struct PlaneTile
{
  std::int64_t x0, y0;
};

/// What a thread brings of a plane: one column of plane_x every rows_at_once rows, and one number of the columns
/// behind these.
template <typename Layout, typename Number>
class PlaneLoader
{
public:
  __device__ PlaneLoader(const PlaneGrid &n, const PlaneTile &tile)
    : n_(n)
    , x_(tile.x0 - Layout::radius + lane())
    , y_(tile.y0 - Layout::radius + first_row())
    , rest_x_(tile.x0 - Layout::radius + plane_x + static_cast<int>(threadIdx.x) % rest_columns)
    , rest_y_(tile.y0 - Layout::radius + static_cast<int>(threadIdx.x) / rest_columns)
    , has_rest_(threadIdx.x < rest_columns * Layout::rows && rest_x_ < n.x && rest_y_ >= 0 &&
          rest_y_ < n.y)
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
          in_columns && first_row() + i * rows_at_once < Layout::rows && y >= 0 && y < n_.y;
      values_[i] = is_inside ? __ldg(plane + y * n_.x + x_) : Number(0);
    }
    rest_ =
        exists && has_rest_ && rest_x_ >= 0 ? __ldg(plane + rest_y_ * n_.x + rest_x_) : Number(0);
  }

  __device__ void keep(Number *plane) const
  {
#pragma unroll
    for (int i = 0; i < loads; ++i)
      if (const int row = first_row() + i * rows_at_once; row < Layout::rows)
        plane[row * Layout::ld + lane()] = values_[i];
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < rest_columns * Layout::rows)
      plane[thread / rest_columns * Layout::ld + plane_x + thread % rest_columns] = rest_;
  }

private:
  static constexpr int rows_at_once = plane_threads / plane_x,
                       rest_columns = Layout::columns - plane_x;
  static constexpr int loads = (Layout::rows + rows_at_once - 1) / rows_at_once;
  static_assert(rest_columns * Layout::rows <= plane_threads);
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % plane_x; }
  static __device__ int first_row() { return static_cast<int>(threadIdx.x) / plane_x; }

  PlaneGrid n_;
  std::int64_t x_, y_, rest_x_, rest_y_;
  bool has_rest_;
  Number values_[loads], rest_ = 0;
};

/// Arithmetic(weights, table) may fill `table`, its shared memory, together; Sums are those of the planes z - radius to
/// z + radius of the result; add(plane z, sums) adds what the plane gives to them, store() writes the first of them and
/// shift() drops it.
template <typename Arithmetic, typename Weights, typename Number>
__device__ void march(const Weights &weights, const PlaneGrid &n, const Number *__restrict__ from,
    Number *__restrict__ to)
{
  using Layout = typename Arithmetic::Layout;
  constexpr int radius = Layout::radius;
  auto *const planes = reinterpret_cast<Number *>(dynamic_shared());
  const PlaneTile tile{static_cast<std::int64_t>(blockIdx.x) * plane_x,
      static_cast<std::int64_t>(blockIdx.y) * plane_y};
  const std::int64_t begin = blockIdx.z * n.march;
  const std::int64_t end = begin + n.march < n.z ? begin + n.march : n.z;
  const Arithmetic arithmetic(weights, planes + 2 * Layout::size);
  for (int i = static_cast<int>(threadIdx.x); i < 2 * Layout::size; i += plane_threads)
    planes[i] = 0;
  __syncthreads();
  const auto plane = [&](std::int64_t z) {
    return planes + (z - begin + radius) % 2 * Layout::size;
  };
  PlaneLoader<Layout, Number> loader(n, tile);
  loader.load(begin - radius, from);
  loader.keep(plane(begin - radius));
  __syncthreads();
  typename Arithmetic::Sums sums{};
  for (std::int64_t z = begin - radius; z < end + radius; ++z)
  {
    loader.load(z + 1, from);
    if (z >= 0 && z < n.z) // what is outside of the grid adds nothing
      arithmetic.add(plane(z), sums);
    if (z - radius >= begin)
      arithmetic.store(sums, n, tile, to + (z - radius) * n.y * n.x);
    Arithmetic::shift(sums);
    loader.keep(plane(z + 1)); // where plane z - 1 was
    __syncthreads();
  }
}
} // namespace tensormg::stencil
