// CONTRACT of the stencil kernels: steps of
//   to(x, y, z) = sum over taps t of weight_t from(x + dx_t, y + dy_t, z + dz_t)
// on a grid of points; what lies outside the grid is zero at every step.
//
//   reference   one step in double precision, tap by tap: the oracle
//   cpu         SIMD along x; `depth` steps in one pass over memory: the grid is cut into tiles, each goes
//               through the slowest direction once, the steps following each other at a distance of one radius,
//               with rings of 2 radius + 1 slabs for what lies between them (the points near the border of a
//               tile are computed by its neighbours as well)
//   cuda_naive  device: a thread per point, taps straight from memory; the caches do the rest
//   cuda_fused  device: several steps in one pass: tiles with a rim march along the slowest direction, all
//               steps one row (plane) behind each other, rows in shared memory, sums in registers
//   cuda_warps  device: one step by warps that march alone, rows in registers, neighbours in x by shuffles
//   cuda_warps_steps  the same, several steps in one pass: strips overlap
//
//   cuda_tile   device, 2D: one step on tiles in shared memory, by tensor cores as products with banded matrices,
//               or by CUDA cores with the same memory pattern; in single precision in TF32, corrected or not
//   cuda_tile_steps  the same with fused weights: several steps as one of larger radius. They differ from steps
//               where something leaves the grid and comes back, which a second kernel does step by step
//   cuda_low_rank    device, 2D: weights of low rank (low_rank.h) as sums along y, then along x, by tensor cores or by
//               CUDA cores with the same memory pattern
//   cuda_planes device, 3D, radius 1: one step on tiles that march along z, by the same products for each plane
//   cuda_planes_steps  the same with fused weights: two steps as one of radius 2
//   cuda_low_rank_planes  the same marches for weights of low rank, likewise
//
// Storage: from[(z ny + y) nx + x], nz = 1 in 2D, 64-byte aligned; `to` must not alias `from`. Every entry of
// `to` is written. The host kernel does one share of the work, any number of threads may do all of them at
// the same time; shares, tiles and depth change the result by rounding at most.
// Tests: tests/kernels/diagnostics/stencil/stencil_test.cc, tests/kernels/diagnostics/stencil/cuda_test.cu, tests/kernels/diagnostics/stencil/low_rank_cuda_test.cu,
// tests/kernels/diagnostics/stencil/warps_tile_test.cc, tests/kernels/diagnostics/stencil/warps_steps_tile_test.cc.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/roofline/roofline.h"

namespace tensormg::stencil
{
inline constexpr int max_taps = 64;
inline constexpr int max_depth = 16;

struct Tap
{
  std::array<int, 3> offset{0, 0, 0}; ///< dx, dy, dz
  double weight = 0.;
};

/// Weights without any structure that a kernel could make use of, unless it finds out.
struct Stencil
{
  int dim = 2;
  int radius = 0; ///< largest offset
  int n_taps = 0;
  std::array<Tap, max_taps> taps{};
};

/// The shapes by name: points on the axes (star) or all points of a cube (box) within the radius.
struct Shape
{
  std::string_view name;
  int dim;
  int radius;
  bool box;
  int rank =
      0; ///< that weights shall have: sums of products of a column and a row (3D: a plane); 0: no structure
};
inline constexpr std::array shapes{Shape{"2d5pt", 2, 1, false}, Shape{"3d7pt", 3, 1, false},
    Shape{"2d9pt", 2, 1, true}, Shape{"3d27pt", 3, 1, true}, Shape{"2d13pt", 2, 3, false},
    Shape{"2d49pt", 2, 3, true}, Shape{"2d9pt_rank1", 2, 1, true, 1},
    Shape{"2d49pt_rank1", 2, 3, true, 1}, Shape{"3d27pt_rank1", 3, 1, true, 1}};

/// The stencil of a shape with all weights 1, taps in the order of memory.
constexpr Stencil make_stencil(const Shape &shape)
{
  Stencil stencil;
  stencil.dim = shape.dim;
  stencil.radius = shape.radius;
  const int r = shape.radius, rz = shape.dim == 3 ? r : 0;
  for (int dz = -rz; dz <= rz; ++dz)
    for (int dy = -r; dy <= r; ++dy)
      for (int dx = -r; dx <= r; ++dx)
        if (shape.box || (dx != 0) + (dy != 0) + (dz != 0) <= 1)
          stencil.taps[static_cast<std::size_t>(stencil.n_taps++)] = {{dx, dy, dz}, 1.};
  return stencil;
}

struct Grid
{
  std::array<std::int64_t, 3> points{1, 1, 1}; ///< nx, ny, nz
  constexpr std::int64_t size() const { return points[0] * points[1] * points[2]; }
};

/// Useful work of `depth` steps in one pass: two flops per tap and point of every step; every point read
/// and written once.
constexpr roofline::Work work(
    const Stencil &stencil, const Grid &grid, int depth, std::size_t number_bytes)
{
  const auto points = static_cast<double>(grid.size());
  return {2. * stencil.n_taps * points * depth, 2. * static_cast<double>(number_bytes) * points};
}

template <typename Number>
void reference(const Stencil &stencil, const Grid &grid, const Number *from, double *to);

/// Part `index` of `count` parts of the work.
struct Share
{
  int index = 0;
  int count = 1;
};

/// How the host kernel goes through the grid. x and the middle direction (y in 3D) are cut into tiles, the
/// slowest (y in 2D, z in 3D) into pieces.
struct Plan
{
  int depth = 1;
  std::array<std::int64_t, 3> tile{
      1, 1, 1};             ///< points in x, in the middle direction, and in the slowest
  bool past_caches = false; ///< stores of the last step
};

/// Throws std::invalid_argument unless 1 <= depth <= max_depth. Tiles whose rings fit into `cache_bytes`, and at least `shares` of them if the grid allows it.
Plan make_plan(const Stencil &stencil, const Grid &grid, int depth, std::size_t number_bytes,
    std::int64_t cache_bytes, int shares);

/// Numbers of scratch memory for one share.
std::int64_t scratch_size(const Stencil &stencil, const Grid &grid, const Plan &plan);

/// Points computed by all steps together, those that several tiles compute counted each time; useful are
/// depth * grid.size().
double executed_updates(const Stencil &stencil, const Grid &grid, const Plan &plan);

template <typename Number>
void cpu(const Stencil &stencil, const Grid &grid, const Plan &plan, const Number *from, Number *to,
    Number *scratch, Share share);

/// One step in device memory, queued in the stream.
template <typename Number>
TENSORMG_CUDA_FUNCTION void cuda_naive(
    const Stencil &stencil, const Grid &grid, const Number *from, Number *to, Stream stream);

/// Steps that cuda_warps_steps can do in one pass at most; 1: it cannot. More do not pay (docs/diagnostics.md).
constexpr int largest_steps_depth(int dim, int radius)
{
  return radius != 1 ? 1 : dim == 2 ? 6 : 2;
}

/// Steps that cuda_fused can do in one pass at most.
constexpr int largest_fused_depth(int dim, int radius) { return dim == 2 && radius == 1 ? 4 : 2; }

/// Points that cuda_fused computes in all steps together; useful are depth * grid.size().
double fused_updates(const Stencil &stencil, const Grid &grid, int depth);

/// `depth` steps in one pass: 2 or 4. Throws std::invalid_argument for other depths, for stencils of other
/// radius than those of the shapes above, and for more than 2^30 rows.
template <typename Number>
TENSORMG_CUDA_FUNCTION void cuda_fused(const Stencil &stencil, const Grid &grid, int depth,
    const Number *from, Number *to, Stream stream);

/// One step by independent warps: no shared memory, no barriers. Accesses have 16 bytes where rows are multiples of 16
/// bytes and both arrays are aligned to that, otherwise one number. Throws std::invalid_argument for stencils of other
/// radius than those of the shapes above, and for more than 2^29 rows or points of a row or (3D) 65535 tiles across.
template <typename Number>
TENSORMG_CUDA_FUNCTION void cuda_warps(
    const Stencil &stencil, const Grid &grid, const Number *from, Number *to, Stream stream);

/// Points that cuda_warps computes on the current device, with aligned arrays; useful are grid.size().
template <typename Number>
TENSORMG_CUDA_FUNCTION double warps_updates(const Stencil &stencil, const Grid &grid);

/// Several steps by independent warps: 2, in 2D 2 to 6; as cuda_warps otherwise. Throws std::invalid_argument for other
/// depths, for stencils of other radius than 1, and for more than 2^28 rows or points of a row or (3D) 65535 tiles across.
template <typename Number>
TENSORMG_CUDA_FUNCTION void cuda_warps_steps(const Stencil &stencil, const Grid &grid, int depth,
    const Number *from, Number *to, Stream stream);

/// Points that cuda_warps_steps computes in all steps together; useful are depth * grid.size().
template <typename Number>
TENSORMG_CUDA_FUNCTION double warps_steps_updates(
    const Stencil &stencil, const Grid &grid, int depth);

/// What multiplies in cuda_tile.
enum class TileUnit : std::uint8_t
{
  fma,    ///< CUDA cores
  m8n8k4, ///< mma.sync, the shape of compute capability 8.0 and of WMMA
  m16n8k4
};

/// The same in single precision.
enum class SingleTileUnit : std::uint8_t
{
  fma,
  tf32, ///< factors rounded to TF32: a pass is off by 2^-10 of the sum of |weight| |number| at most
  tf32_corrected ///< three products, which recover single precision
};

/// Is it more than a star, as the steps of a star in one are?
constexpr bool has_taps_off_axes(const Stencil &stencil)
{
  for (int t = 0; t < stencil.n_taps; ++t)
  {
    const auto &offset = stencil.taps[static_cast<std::size_t>(t)].offset;
    if ((offset[0] != 0) + (offset[1] != 0) + (offset[2] != 0) > 1)
      return true;
  }
  return false;
}

/// Flops that the unit does per point; useful are 2 per tap. CUDA cores leave out what a star (`box` false) has not.
constexpr double tile_flops(int radius, bool box, TileUnit unit)
{
  const int width = 2 * radius + 1, columns = (8 + 2 * radius + 3) / 4 * 4;
  return unit != TileUnit::fma ? 2. * width * columns
      : box                    ? 2. * width * width
                               : 2. * (2 * width - 1);
}

constexpr double tile_flops(int radius, bool box, SingleTileUnit unit)
{
  const int width = 2 * radius + 1, columns = (8 + 2 * radius + 7) / 8 * 8;
  return unit == SingleTileUnit::fma ? 2. * (box ? width * width : 2 * width - 1)
      : unit == SingleTileUnit::tf32 ? 2. * width * columns
                                     : 6. * width * columns;
}

/// One step in 2D. Throws std::invalid_argument for 3D and for other radii than 1, 2 and 3, DeviceError where the GPU
/// has no such shape.
TENSORMG_CUDA_FUNCTION void cuda_tile(const Stencil &stencil, const Grid &grid, TileUnit unit,
    const double *from, double *to, Stream stream);
TENSORMG_CUDA_FUNCTION void cuda_tile(const Stencil &stencil, const Grid &grid, SingleTileUnit unit,
    const float *from, float *to, Stream stream);
/// `steps` steps of radius 1 in 2D: 1, 2 or 3.
TENSORMG_CUDA_FUNCTION void cuda_tile_steps(const Stencil &stencil, const Grid &grid, int steps,
    TileUnit unit, const double *from, double *to, Stream stream);
TENSORMG_CUDA_FUNCTION void cuda_tile_steps(const Stencil &stencil, const Grid &grid, int steps,
    SingleTileUnit unit, const float *from, float *to, Stream stream);

/// What fused weights leave wrong: the points nearer to a side than the steps but one reach, step by step. 2D.
template <typename Number>
TENSORMG_CUDA_FUNCTION void cuda_border(const Stencil &stencil, const Grid &grid, int steps,
    const Number *from, Number *to, Stream stream);

/// Flops per point of the form with `rank` terms, on the shape of the unit.
constexpr double low_rank_flops(int radius, int rank, TileUnit unit)
{
  // A warp of CUDA cores forms the sums along y of 72 columns for 64 of results.
  if (unit == TileUnit::fma)
    return rank * 2. * (2 * radius + 1) * (72. / 64. + 1.);
  const int m = unit == TileUnit::m8n8k4 ? 8 : 16;
  const int rows = (m + 2 * radius + 3) / 4 * 4;
  // A warp forms the sums of 8 columns more than it has results.
  const double columns = unit == TileUnit::m8n8k4 ? 9. / 8. : 5. / 4.;
  return rank * (2. * rows * columns + 2. * 16.);
}

/// One step in 2D. Throws std::invalid_argument if the weights are of no low rank (low_rank.h).
TENSORMG_CUDA_FUNCTION void cuda_low_rank(const Stencil &stencil, const Grid &grid, TileUnit unit,
    const double *from, double *to, Stream stream);
/// `steps` steps in 2D as one with fused weights: of low rank if those of a step are of rank 1. Throws std::invalid_argument for 3D, if
/// all steps together reach farther than 3 points, and if the fused weights are of no low rank.
TENSORMG_CUDA_FUNCTION void cuda_low_rank_steps(const Stencil &stencil, const Grid &grid, int steps,
    TileUnit unit, const double *from, double *to, Stream stream);

/// Steps that fused weights can do in 3D.
inline constexpr int largest_planes_steps = 2;

/// Flops per point of cuda_planes (radius 1) and of two steps of it with fused weights (radius 2).
constexpr double planes_flops(int radius, bool box, TileUnit unit)
{
  const int rows = radius == 1 ? (box ? 9 : 5) : (box ? 25 : 13); // of weights along x
  const int taps = radius == 1 ? (box ? 27 : 7) : (box ? 125 : 25);
  return unit == TileUnit::fma ? 2. * taps : rows * 2. * 12.;
}

constexpr double planes_flops(int radius, bool box, SingleTileUnit unit)
{
  const double product = planes_flops(radius, box, TileUnit::m16n8k4); // the same bands
  return unit == SingleTileUnit::fma ? planes_flops(radius, box, TileUnit::fma)
      : unit == SingleTileUnit::tf32 ? product
                                     : 3. * product;
}

/// One step in 3D with radius 1. Throws std::invalid_argument otherwise, DeviceError where the GPU has no such shape.
TENSORMG_CUDA_FUNCTION void cuda_planes(const Stencil &stencil, const Grid &grid, TileUnit unit,
    const double *from, double *to, Stream stream);
TENSORMG_CUDA_FUNCTION void cuda_planes(const Stencil &stencil, const Grid &grid,
    SingleTileUnit unit, const float *from, float *to, Stream stream);
/// The same for 1 step, and 2 with fused weights.
TENSORMG_CUDA_FUNCTION void cuda_planes_steps(const Stencil &stencil, const Grid &grid, int steps,
    TileUnit unit, const double *from, double *to, Stream stream);
TENSORMG_CUDA_FUNCTION void cuda_planes_steps(const Stencil &stencil, const Grid &grid, int steps,
    SingleTileUnit unit, const float *from, float *to, Stream stream);

/// Flops per point of cuda_low_rank_planes.
constexpr double low_rank_planes_flops(TileUnit unit)
{
  // A lane of CUDA cores forms the sums along y of four columns for two of results, which go into three planes.
  if (unit == TileUnit::fma)
    return 2. * 3. * 2. + 3. * 2. * 3.;
  const int m = unit == TileUnit::m8n8k4 ? 8 : 16;
  const int rows = (m + 2 + 3) / 4 * 4;
  // A warp forms the sums along y of 24 columns for 16 of results, which have 8 + 8 columns of each of three planes.
  return 2. * rows * 3. / 2. + 3. * 2. * 16.;
}
/// One step in 3D. Throws std::invalid_argument unless the weights are a column times a plane (low_rank.h).
TENSORMG_CUDA_FUNCTION void cuda_low_rank_planes(const Stencil &stencil, const Grid &grid,
    TileUnit unit, const double *from, double *to, Stream stream);
} // namespace tensormg::stencil
