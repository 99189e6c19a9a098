// Device kernel of CellRelaxation. A block has a row of cells side by side, a lane each, and as many for each mode in z; a thread
// transforms the x-y plane of its mode in registers, then through shared memory the x-z plane of mode j = its warp.
#pragma once

#include "kernels/device/launch.cuh"
#include "kernels/device/occupancy.h"
#include "kernels/device/pack.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/laplace/cellwise/inverse.cuh"
#include "kernels/laplace/cellwise/relaxation_cuda.h"
#include "kernels/laplace/dispatch.h"

namespace tensormg::laplace::cell_inverse
{
template <int dim_, int n_, typename Number_>
struct Shape
{
  using Number = Number_;
  using C = Compute<Number>;
  static constexpr int dim = dim_, n = n_, nz = dim == 3 ? n : 1;
  static constexpr int bytes_per_lane = dim == 3 ? n * n * n * int{sizeof(C)} : 0;
  /// Within what any GPU has for a block.
  static constexpr int lanes = 32 * bytes_per_lane <= 96 * 1024 ? 32 : 16;
  static constexpr int threads = lanes * nz;
  static constexpr int shared_bytes = lanes * bytes_per_lane;
};

template <typename Number>
struct Parameters
{
  CellRelaxation<Number> a;
  Compute<Number> half_penalty, to_kappa, weight, theta; ///< to_kappa: 1 / half_penalty
  std::int64_t strips;                                   ///< groups of lanes in a row
};

/// Matrix and eigenvalues of a cell in one direction.
template <typename S>
struct Direction
{
  using C = typename S::C;
  const C *vectors, *quotients; ///< vectors = nullptr: unit vectors
  C own, to_lower, to_upper;

  /// As in CellBases::pair(): of (1 + other / own) / 2, rounded to a power of two by the bits of the number.
  __device__ static int exponent(C own, C other)
  {
    constexpr int least = CellBases<C>::least, most = CellBases<C>::most;
    constexpr float half_root = 0.70710678f;
    const float x = fmaf(static_cast<float>(other * cellwise::inverse(own)), half_root, half_root);
    const int rounded = int(__float_as_uint(x) >> 23) - 127;
    return (rounded < least ? least : rounded > most ? most : rounded) - least;
  }

  /// `cell`: its number in direction d; `at`: its place among the numbers of cells.
  __device__ Direction(
      const Parameters<typename S::Number> &p, int d, std::int64_t cell, std::int64_t at)
  {
    const CellRelaxation<typename S::Number> &a = p.a;
    const std::int64_t step = a.cells.stride(d);
    const C *c = a.cells.c[d] + at, *jump = a.cells.jump[d] + at;
    own = *c;
    C lower = c[-step], upper = c[step];
    if (cell == 0)
      lower += own * jump[-step] * p.to_kappa;
    if (cell == a.block.cells[d] - 1)
      upper += own * jump[step] * p.to_kappa;
    const int e_lower = exponent(own, lower), e_upper = exponent(own, upper);
    const int pair = e_lower * CellBases<C>::count + e_upper;
    const bool is_diagonal = e_lower == -CellBases<C>::least && e_upper == -CellBases<C>::least;
    vectors = is_diagonal ? nullptr : a.vectors + pair * S::n * S::n;
    quotients = a.quotients + pair * 3 * S::n;
    to_lower = p.half_penalty * (lower - own);
    to_upper = p.half_penalty * (upper - own);
  }

  __device__ C eigenvalue(int i) const
  {
    return own * quotients[i] + to_lower * quotients[S::n + i] + to_upper * quotients[2 * S::n + i];
  }

  /// Of u[line * line_step + i * step], i = 0..n - 1, for all n lines.
  template <bool transposed, int step, int line_step>
  __device__ void transform(C *u) const
  {
    constexpr int n = S::n;
    if (vectors == nullptr)
      return;
    C result[n * n];
#pragma unroll
    for (int i = 0; i < n; ++i)
    {
#pragma unroll
      for (int m = 0; m < n; ++m)
      {
        const C q = vectors[transposed ? m * n + i : i * n + m];
#pragma unroll
        for (int line = 0; line < n; ++line)
          result[line * n + i] =
              fma(q, u[line * line_step + m * step], m == 0 ? C(0) : result[line * n + i]);
      }
    }
#pragma unroll
    for (int i = 0; i < n; ++i)
#pragma unroll
      for (int line = 0; line < n; ++line)
        u[line * line_step + i * step] = result[line * n + i];
  }
};

/// The cell of a thread.
template <typename S>
struct Cell
{
  std::int64_t x, y, z;
  bool exists;

  __device__ explicit Cell(const Parameters<typename S::Number> &p)
  {
    const auto strips = unsigned(p.strips),
               rows = unsigned(p.a.block.cells[1]); // 32 bits divide sooner
    const unsigned row = blockIdx.x / strips;
    x = blockIdx.x % strips * S::lanes + threadIdx.x;
    y = row % rows;
    z = row / rows;
    exists = x < p.a.block.pitch;
  }
};

/// Modes along z of the x-z plane of a warp: to eigenvectors, divided by eigenvalues, and back. `numbers`: u[k][j][i] of the lane.
template <typename S>
__device__ void divide_along_z(const Direction<S> (&of)[3], typename S::C reaction,
    typename S::C weight, int j, typename S::C *numbers)
{
  constexpr int n = S::n, step = n * n * S::lanes;
  typename S::C u[n * n];
#pragma unroll
  for (int k = 0; k < n; ++k)
#pragma unroll
    for (int i = 0; i < n; ++i)
      u[k * n + i] = numbers[k * step + i * S::lanes];
  of[2].template transform<true, n, 1>(u);
  const typename S::C rest = of[1].eigenvalue(j) + reaction;
  typename S::C along_x[n];
#pragma unroll
  for (int i = 0; i < n; ++i)
    along_x[i] = of[0].eigenvalue(i);
#pragma unroll
  for (int k = 0; k < n; ++k)
  {
    const typename S::C sum = rest + of[2].eigenvalue(k);
#pragma unroll
    for (int i = 0; i < n; ++i)
      u[k * n + i] *= weight * cellwise::inverse(sum + along_x[i]);
  }
  of[2].template transform<false, n, 1>(u);
#pragma unroll
  for (int k = 0; k < n; ++k)
#pragma unroll
    for (int i = 0; i < n; ++i)
      numbers[k * step + i * S::lanes] = u[k * n + i];
}

/// use(m, position) for the numbers of a plane.
template <typename S, typename Use>
__device__ __forceinline__ void for_plane(const Block &block, std::int64_t first, const Use &use)
{
#pragma unroll
  for (int j = 0; j < S::n; ++j)
#pragma unroll
    for (int i = 0; i < S::n; ++i)
      use(j * S::n + i, first + j * block.row() + i * block.pitch);
}

/// Writes what the plane of a warp becomes. All is read before anything is written: otherwise accesses would wait for each other.
template <typename S>
__device__ void take_step(
    const Parameters<typename S::Number> &p, std::int64_t first, typename S::C *u)
{
  using C = typename S::C;
  const CellRelaxation<typename S::Number> &a = p.a;
  if (a.lines != nullptr)
    for_plane<S>(
        a.block, first, [&](int m, std::int64_t at) { u[m] += load_pack<1>(a.lines + at).at[0]; });
  if (a.x != nullptr)
    for_plane<S>(a.block, first, [&](int m, std::int64_t at) {
      u[m] = fma(1 + p.theta, load_pack<1>(a.x + at).at[0], u[m]);
    });
  if (a.x != nullptr && p.theta != C(0))
    for_plane<S>(a.block, first, [&](int m, std::int64_t at) {
      u[m] = fma(-p.theta, load_pack<1>(a.old + at).at[0], u[m]);
    });
  for_plane<S>(
      a.block, first, [&](int m, std::int64_t at) { store_pack(a.old + at, Pack<C, 1>(u[m])); });
}

template <typename S>
__global__ void __launch_bounds__(S::threads)
    cell_kernel(const __grid_constant__ Parameters<typename S::Number> p)
{
  using C = typename S::C;
  constexpr int n = S::n;
  const CellRelaxation<typename S::Number> &a = p.a;
  const Cell<S> cell(p);
  const int k = int(threadIdx.y);
  const std::int64_t x = cell.exists ? cell.x : 0; // so that all lanes meet at barriers
  const std::int64_t at = x + cell.y * a.cells.row + cell.z * a.cells.plane;
  const std::int64_t first = a.block.index(x, cell.y, cell.z, 0, 0, k);
  const Direction<S> of[3] = {Direction<S>(p, 0, x, at), Direction<S>(p, 1, cell.y, at),
      Direction<S>(p, S::dim - 1, S::dim == 3 ? cell.z : cell.y, at)};
  C u[n * n];
  for_plane<S>(
      a.block, first, [&](int m, std::int64_t from) { u[m] = load_pack<1>(a.r + from).at[0]; });
  of[0].template transform<true, 1, n>(u);
  of[1].template transform<true, n, 1>(u);
  const C reaction = a.cells.reaction[at];
  if constexpr (S::dim == 3)
  {
    C *numbers = reinterpret_cast<C *>(dynamic_shared()) + threadIdx.x;
    C *plane = numbers + k * n * n * S::lanes;
#pragma unroll
    for (int m = 0; m < n * n; ++m)
      plane[m * S::lanes] = u[m];
    __syncthreads();
    divide_along_z<S>(of, reaction, p.weight, k, numbers + k * n * S::lanes);
    __syncthreads();
#pragma unroll
    for (int m = 0; m < n * n; ++m)
      u[m] = plane[m * S::lanes];
  }
  else
#pragma unroll
    for (int j = 0; j < n; ++j)
#pragma unroll
      for (int i = 0; i < n; ++i)
        u[j * n + i] *=
            p.weight * cellwise::inverse(of[0].eigenvalue(i) + of[1].eigenvalue(j) + reaction);
  of[1].template transform<false, n, 1>(u);
  of[0].template transform<false, 1, n>(u);
  if (cell.exists)
    take_step<S>(p, first, u);
}

template <typename S>
void relax(const CellRelaxation<typename S::Number> &a, Stream stream)
{
  using C = typename S::C;
  const std::int64_t strips = (a.block.pitch + S::lanes - 1) / S::lanes;
  const Parameters<typename S::Number> p{a, static_cast<C>(a.basis->penalty / 2),
      static_cast<C>(2 / a.basis->penalty), static_cast<C>(a.weight), static_cast<C>(a.theta),
      strips};
  const auto kernel = &cell_kernel<S>;
  if (S::shared_bytes > 48 * 1024)
    allow_shared_bytes(reinterpret_cast<const void *>(kernel), S::shared_bytes);
  launch("launching the inverses of cells", kernel,
      unsigned(strips * a.block.cells[1] * a.block.cells[2]), dim3(S::lanes, S::nz),
      S::shared_bytes, stream, p);
}
} // namespace tensormg::laplace::cell_inverse

namespace tensormg::laplace
{
template <typename Number>
void relax_cells_cuda(const CellRelaxation<Number> &a, Stream stream)
{
  by_degree<1, max_degree>(a.block.degree(), [&](auto degree) {
    if (a.block.dim == 2)
      cell_inverse::relax<cell_inverse::Shape<2, degree.value + 1, Number>>(a, stream);
    else
      cell_inverse::relax<cell_inverse::Shape<3, degree.value + 1, Number>>(a, stream);
  });
}
} // namespace tensormg::laplace
