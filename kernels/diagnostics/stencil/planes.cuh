// Planes of a 3D grid in shared memory with a rim, zero outside of the grid, and the march of a block along z: each plane
// goes into the sums of all planes of the result that it reaches, which stay in registers, so that it is read once. Planes
// come by asynchronous copies, which need no registers, into a ring of places: one is used, the others are on their way.
#pragma once

#include <cstdint>

#include "kernels/device/copy_async.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/mma/bank_conflicts.h"
#include "kernels/mma/shared_layout.h"

namespace tensormg::stencil
{
inline constexpr int plane_threads = 256, plane_warps = plane_threads / 32;
inline constexpr int plane_x = 64, plane_y = 32; ///< points of a tile
inline constexpr int plane_places = 3;           ///< of the ring

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

/// What a thread copies of a plane: one column of plane_x every rows_at_once rows, and one number of the columns
/// behind these.
template <typename Layout, typename Number>
class PlaneCopies
{
public:
  __device__ PlaneCopies(
      const PlaneGrid &n, const PlaneTile &tile, const Number *grid, const Number *places)
    : n_(n)
    , grid_(grid)
    , y_(static_cast<int>(tile.y0) - Layout::radius + first_row())
    , places_(shared_address(places))
  {
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t x = tile.x0 - Layout::radius + lane();
    const std::int64_t rest_x = tile.x0 - Layout::radius + plane_x + thread % rest_columns;
    const std::int64_t rest_y = tile.y0 - Layout::radius + thread / rest_columns;
    is_in_columns_ = x >= 0 && x < n.x;
    rest_is_there_ = rest_x >= 0 && rest_x < n.x && rest_y >= 0 && rest_y < n.y;
    first_ = y_ * n.x + x;
    rest_ = rest_y * n.x + rest_x;
  }

  /// Plane z to a place, as a group of copies; zero outside of the grid. Nothing if nobody needs it.
  __device__ void start(std::int64_t z, int place, bool is_needed) const
  {
    if (is_needed)
    {
      const bool exists = z >= 0 && z < n_.z;
      const Number *const plane = grid_ + z * n_.y * n_.x;
      const SharedAddress to = places_ + place * Layout::size * bytes;
      const Number *from = plane + first_;
      const int rows = static_cast<int>(n_.y);
      int y = y_;
#pragma unroll
      for (int i = 0; i < copies; ++i)
      {
        if (const int row = first_row() + i * rows_at_once; row < Layout::rows)
          copy_async_or_zero<bytes>(to + (row * Layout::ld + lane()) * bytes, from,
              exists && is_in_columns_ && y >= 0 && y < rows);
        from += rows_at_once * n_.x;
        y += rows_at_once;
      }
      const int thread = static_cast<int>(threadIdx.x);
      if (thread < rest_columns * Layout::rows)
        copy_async_or_zero<bytes>(
            to + (thread / rest_columns * Layout::ld + plane_x + thread % rest_columns) * bytes,
            plane + rest_, exists && rest_is_there_);
    }
    commit_copies();
  }

private:
  static constexpr int bytes = sizeof(Number), rows_at_once = plane_threads / plane_x,
                       rest_columns = Layout::columns - plane_x;
  static constexpr int copies = (Layout::rows + rows_at_once - 1) / rows_at_once;
  static_assert(rest_columns * Layout::rows <= plane_threads);
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % plane_x; }
  static __device__ int first_row() { return static_cast<int>(threadIdx.x) / plane_x; }

  PlaneGrid n_;
  const Number *grid_;
  std::int64_t first_, rest_; ///< positions in a plane
  int y_;                     ///< a launch has no more than 65535 tiles along y
  SharedAddress places_;
  bool is_in_columns_, rest_is_there_;
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
  auto *const places = reinterpret_cast<Number *>(dynamic_shared());
  const PlaneTile tile{static_cast<std::int64_t>(blockIdx.x) * plane_x,
      static_cast<std::int64_t>(blockIdx.y) * plane_y};
  const std::int64_t begin = blockIdx.z * n.march;
  const std::int64_t end = begin + n.march < n.z ? begin + n.march : n.z;
  const Arithmetic arithmetic(weights, places + plane_places * Layout::size);
  for (int i = static_cast<int>(threadIdx.x); i < plane_places * Layout::size; i += plane_threads)
    places[i] = 0;
  __syncthreads();
  const PlaneCopies<Layout, Number> copies(n, tile, from, places);
  constexpr int ahead = plane_places - 1;
#pragma unroll
  for (int i = 0; i < ahead; ++i)
    copies.start(begin - radius + i, i, true); // a march has at least two planes: radius >= 1
  typename Arithmetic::Sums sums{};
  int place = 0, free = ahead;
  for (std::int64_t z = begin - radius; z < end + radius; ++z)
  {
    wait_copies<ahead - 1>();
    __syncthreads(); // everybody's copies are there, and nobody needs plane z - 1 any more
    copies.start(z + ahead, free, z + ahead < end + radius);
    if (z >= 0 && z < n.z) // what is outside of the grid adds nothing
      arithmetic.add(places + place * Layout::size, sums);
    if (z - radius >= begin)
      arithmetic.store(sums, n, tile, to + (z - radius) * n.y * n.x);
    Arithmetic::shift(sums);
    free = place;
    place = place + 1 < plane_places ? place + 1 : 0;
  }
}
} // namespace tensormg::stencil
