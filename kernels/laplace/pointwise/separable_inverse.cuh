// Device kernel of apply_separable_inverse_cuda(). A block has a row of cells side by side, a lane each, and as many for each mode in z; a thread
// transforms the x-y plane of its mode in registers, then through shared memory the x-z plane of mode j = its place in y. Matrices and
// eigenvalues of the cells are in shared memory, so that they come from memory once and all at a time.
#pragma once

#include <algorithm>

#include "kernels/device/launch.cuh"
#include "kernels/device/pack.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/laplace/cellwise/inverse.cuh"
#include "kernels/laplace/dispatch.h"
#include "kernels/laplace/pointwise/relaxation_cuda.h"

namespace tensormg::laplace::separable_inverse
{
template <int dim_, int n_, typename Number_>
struct Shape
{
  using Number = Number_;
  using C = Compute<Number>;
  static constexpr int dim = dim_, n = n_, nz = dim == 3 ? n : 1;
  static constexpr int numbers = dim * cell_inverse_numbers(n),
                       plane_numbers = dim == 3 ? n * n * n : 0;
  static constexpr int bytes_per_lane = (numbers + plane_numbers) * int{sizeof(C)};
  /// Within what any GPU has for a block.
  static constexpr int most_lanes(int most)
  {
    return most * bytes_per_lane <= 96 * 1024 ? most : most_lanes(most / 2);
  }
  static constexpr int lanes = most_lanes(32), threads = lanes * nz,
                       shared_bytes = lanes * bytes_per_lane;
  /// Lines of a plane that are transformed at a time: as many as fit into registers, of 4 bytes, beside the plane.
  static constexpr int together = std::clamp((190 * 4 / int{sizeof(C)} - n * n) / n, 1, n);
};

template <typename Number>
struct Parameters
{
  Block block;
  const Compute<Number> *numbers;
  Compute<Number> weight;
  const Number *lines, *r; ///< lines = nullptr: none
  Number *z;
  std::int64_t strips; ///< groups of lanes in a row
};

/// Matrix and eigenvalues of the cell of a lane in one direction, in shared memory.
template <typename S>
struct Direction
{
  using C = typename S::C;
  const C *numbers;

  __device__ C eigenvalue(int i) const { return numbers[(S::n * S::n + i) * S::lanes]; }

  /// Of u[line * line_step + i * step], i = 0..n - 1, for all n lines.
  template <bool transposed, int step, int line_step>
  __device__ __forceinline__ void transform(C *u) const
  {
#pragma unroll
    for (int first = 0; first < S::n; first += S::together)
      transform_some<transposed, step, line_step>(u, first);
  }

private:
  template <bool transposed, int step, int line_step>
  __device__ __forceinline__ void transform_some(C *u, int first) const
  {
    constexpr int n = S::n;
    const int count = n - first < S::together ? n - first : S::together;
    C result[S::together * n];
    if constexpr (S::together < n)
      __syncwarp(); // the matrix is read again: there is no room to keep it
#pragma unroll
    for (int i = 0; i < n; ++i)
#pragma unroll
      for (int m = 0; m < n; ++m)
      {
        const C q = numbers[(transposed ? m * n + i : i * n + m) * S::lanes];
#pragma unroll
        for (int line = 0; line < S::together; ++line)
          if (line < count)
            result[line * n + i] = fma(
                q, u[(first + line) * line_step + m * step], m == 0 ? C(0) : result[line * n + i]);
      }
#pragma unroll
    for (int i = 0; i < n; ++i)
#pragma unroll
      for (int line = 0; line < S::together; ++line)
        if (line < count)
          u[(first + line) * line_step + i * step] = result[line * n + i];
  }
};

/// Modes along z of the x-z plane of a warp: to eigenvectors, divided by eigenvalues, and back. `numbers`: u[k][j][i] of the lane.
template <typename S>
__device__ void divide_along_z(
    const Direction<S> (&of)[S::dim], typename S::C weight, int j, typename S::C *numbers)
{
  using C = typename S::C;
  constexpr int n = S::n, step = n * n * S::lanes;
  C u[n * n], along_x[n];
#pragma unroll
  for (int k = 0; k < n; ++k)
#pragma unroll
    for (int i = 0; i < n; ++i)
      u[k * n + i] = numbers[k * step + i * S::lanes];
  of[2].template transform<true, n, 1>(u);
#pragma unroll
  for (int i = 0; i < n; ++i)
    along_x[i] = of[0].eigenvalue(i);
  const C of_y = of[1].eigenvalue(j);
#pragma unroll
  for (int k = 0; k < n; ++k)
  {
    const C sum = of_y + of[2].eigenvalue(k);
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
/// In 2D, where a thread has all modes.
template <typename S>
__device__ void divide_plane(
    const Direction<S> (&of)[S::dim], typename S::C weight, typename S::C *u)
{
  using C = typename S::C;
  constexpr int n = S::n;
  C along_x[n];
#pragma unroll
  for (int i = 0; i < n; ++i)
    along_x[i] = of[0].eigenvalue(i);
#pragma unroll
  for (int j = 0; j < n; ++j)
  {
    const C of_y = of[1].eigenvalue(j);
#pragma unroll
    for (int i = 0; i < n; ++i)
      u[j * n + i] *= weight * cellwise::inverse(of_y + along_x[i]);
  }
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

template <typename S>
__global__ void __launch_bounds__(S::threads)
    kernel(const __grid_constant__ Parameters<typename S::Number> p)
{
  using C = typename S::C;
  constexpr int n = S::n;
  const Block &block = p.block;
  const auto strips = unsigned(p.strips), rows = unsigned(block.cells[1]); // 32 bits divide sooner
  const unsigned row = blockIdx.x / strips;
  const std::int64_t x = blockIdx.x % strips * S::lanes + threadIdx.x;
  const bool exists = x < block.cells[0];
  const std::int64_t at = exists ? x : 0; // so that all lanes meet at barriers
  const int k = int(threadIdx.y);
  const std::int64_t first = block.index(at, row % rows, row / rows, 0, 0, k);
  C *plane = reinterpret_cast<C *>(dynamic_shared()) + threadIdx.x,
    *matrices = plane + S::plane_numbers * S::lanes;
  C u[n * n];
  for_plane<S>(
      block, first, [&](int m, std::int64_t from) { u[m] = load_pack<1>(p.r + from).at[0]; });
  const C *from = p.numbers + relaxation_index(block, cell_inverse_numbers(n), row, 0, 0, at);
#pragma unroll 8
  for (int m = k; m < S::numbers; m += S::nz)
    matrices[m * S::lanes] = __ldg(from + m * block.pitch);
  __syncthreads();
  Direction<S> of[S::dim];
#pragma unroll
  for (int d = 0; d < S::dim; ++d)
    of[d].numbers = matrices + d * cell_inverse_numbers(n) * S::lanes;
  of[0].template transform<true, 1, n>(u);
  of[1].template transform<true, n, 1>(u);
  if constexpr (S::dim == 3)
  {
    C *own = plane + k * n * n * S::lanes;
#pragma unroll
    for (int m = 0; m < n * n; ++m)
      own[m * S::lanes] = u[m];
    __syncthreads();
    divide_along_z<S>(of, p.weight, k, plane + k * n * S::lanes);
    __syncthreads();
#pragma unroll
    for (int m = 0; m < n * n; ++m)
      u[m] = own[m * S::lanes];
  }
  else
    divide_plane<S>(of, p.weight, u);
  of[1].template transform<false, n, 1>(u);
  of[0].template transform<false, 1, n>(u);
  if (p.lines != nullptr)
#pragma unroll
    for (int d = 0; d < S::dim; ++d)
      for_plane<S>(block, first + d * block.size(),
          [&](int m, std::int64_t from) { u[m] += load_pack<1>(p.lines + from).at[0]; });
  if (x < block.pitch)
    for_plane<S>(block, first - at + x,
        [&](int m, std::int64_t to) { store_pack(p.z + to, Pack<C, 1>(exists ? u[m] : C(0))); });
}

template <typename S>
void launch_cells(const Parameters<typename S::Number> &p, Stream stream)
{
  Parameters<typename S::Number> of_shape = p;
  of_shape.strips = (p.block.pitch + S::lanes - 1) / S::lanes;
  const auto function = &kernel<S>;
  if (S::shared_bytes > 48 * 1024)
    allow_shared_bytes(reinterpret_cast<const void *>(function), S::shared_bytes);
  launch("launching the inverses of curved cells", function,
      unsigned(of_shape.strips * p.block.cells[1] * p.block.cells[2]), dim3(S::lanes, S::nz),
      S::shared_bytes, stream, of_shape);
}
} // namespace tensormg::laplace::separable_inverse

namespace tensormg::laplace
{
template <typename Number>
void apply_separable_inverse_cuda(const Block &block, const Compute<Number> *numbers, double weight,
    const Number *lines, const Number *r, Number *z, Stream stream)
{
  const separable_inverse::Parameters<Number> p{
      block, numbers, static_cast<Compute<Number>>(weight), lines, r, z, 0};
  by_degree<1, max_degree>(block.degree(), [&](auto degree) {
    if (block.dim == 2)
      separable_inverse::launch_cells<separable_inverse::Shape<2, degree.value + 1, Number>>(
          p, stream);
    else
      separable_inverse::launch_cells<separable_inverse::Shape<3, degree.value + 1, Number>>(
          p, stream);
  });
}
} // namespace tensormg::laplace
