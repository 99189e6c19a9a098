// The passes in device memory: one thread per number. Numbers of a line that the threads of a warp share come from the first cache.
#include "kernels/core/divisor.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/pack.cuh"
#include "kernels/line_inverse/line_inverse.h"

namespace tensormg::line_inverse
{
namespace
{
  constexpr int threads = 256;

  /// What a thread needs to find its line.
  struct Place
  {
    Divisor row, rows, pitch; ///< numbers in a row, rows in a plane, padded cells in x
    unsigned row_size, rows_per_plane, pitch_size, cells_x, n_rows;
    int direction, n, size; ///< size: unknowns of a line
    LineStrides strides;

    explicit Place(const Block &block, int direction_)
      : row(static_cast<unsigned>(block.row()))
      , rows(static_cast<unsigned>(block.rows_per_plane()))
      , pitch(static_cast<unsigned>(block.pitch))
      , row_size(static_cast<unsigned>(block.row()))
      , rows_per_plane(static_cast<unsigned>(block.rows_per_plane()))
      , pitch_size(static_cast<unsigned>(block.pitch))
      , cells_x(static_cast<unsigned>(block.cells[0]))
      , n_rows(static_cast<unsigned>(block.planes() * block.rows_per_plane()))
      , direction(direction_)
      , n(block.n)
      , size(static_cast<int>(block.cells[direction_]) * block.n)
      , strides(block, direction_)
    {}
  };

  /// The number that a thread computes: blocks take rows in turn, threads the numbers of a row.
  struct Target
  {
    std::int64_t at, first; ///< positions of the number and of the first one of its line
    unsigned x, y, z;       ///< in the row, of the row in its plane, of the plane
    int e;                  ///< in the line
    bool is_padding;

    __device__ Target(const Place &p, unsigned which_row, unsigned x_)
      : x(x_)
    {
      z = p.rows.quotient(which_row);
      y = p.rows.remainder(which_row, z);
      at = std::int64_t(which_row) * p.row_size + x;
      const unsigned mode = p.pitch.quotient(x), cell = p.pitch.remainder(x, mode);
      is_padding = cell >= p.cells_x;
      e = p.direction == 0 ? int(cell) * p.n + int(mode) : p.direction == 1 ? int(y) : int(z);
      first = at - p.strides.offset(e);
    }
  };

  template <typename C, typename Src>
  __device__ C product(const Place &p, const Target &target, const C *matrix, const Src *src)
  {
    C sum = 0;
    const C *weight = matrix + target.e * p.size;
    const Src *of_cell = src + target.first;
    for (int u = 0; u < p.size; u += p.n, of_cell += p.strides.cell)
      for (int mode = 0; mode < p.n; ++mode)
        sum = fma(*weight++, load_pack<1>(of_cell + mode * p.strides.mode).at[0], sum);
    return sum;
  }

  template <typename F>
  __device__ void for_each_number(const Place &p, const F &f)
  {
    for (unsigned which = blockIdx.y; which < p.n_rows; which += gridDim.y)
      if (const unsigned x = blockIdx.x * threads + threadIdx.x; x < p.row_size)
        f(Target(p, which, x));
  }

  template <typename Src, typename C>
  __global__ void __launch_bounds__(threads)
      rotate_kernel(const __grid_constant__ Place p, const __grid_constant__ Rotate<Src, C> a)
  {
    for_each_number(p, [&](const Target &target) {
      C value = target.is_padding ? C(0) : product<C>(p, target, a.matrix, a.src);
      if (a.diagonal[0] != nullptr)
      {
        const C sum = a.diagonal[0][target.x] + (a.diagonal[1][target.y] + a.diagonal[2][target.z]);
        value = sum == C(0) ? C(0) : value / sum;
      }
      a.dst[target.at] = value;
    });
  }

  template <typename Number>
  __global__ void __launch_bounds__(threads)
      add_kernel(const __grid_constant__ Place p, const __grid_constant__ RotateAndAdd<Number> a)
  {
    using C = Compute<Number>;
    const C alpha = static_cast<C>(a.alpha), theta = static_cast<C>(a.theta);
    for_each_number(p, [&](const Target &target) {
      C value = 0;
      if (!target.is_padding)
      {
        const C start = a.start != nullptr ? load_pack<1>(a.start + target.at).at[0] : C(0);
        const C old = a.old != nullptr ? load_pack<1>(a.old + target.at).at[0] : C(0);
        value = start + theta * (start - old) + alpha * product<C>(p, target, a.matrix, a.src);
      }
      store_pack(a.dst + target.at, Pack<C, 1>(value));
    });
  }

  dim3 grid_of(const Place &p)
  {
    constexpr unsigned most = 32768; // of blocks in y
    return {(p.row_size + threads - 1) / threads, p.n_rows < most ? p.n_rows : most, 1};
  }
} // namespace

template <typename Src, typename C>
void rotate_cuda(const Rotate<Src, C> &a, Stream stream)
{
  const Place p(a.block, a.direction);
  launch("launching a rotation of lines", &rotate_kernel<Src, C>, grid_of(p), threads, 0, stream, p,
      a);
}

template <typename Number>
void rotate_and_add_cuda(const RotateAndAdd<Number> &a, Stream stream)
{
  const Place p(a.block, a.direction);
  launch("launching the last rotation of lines", &add_kernel<Number>, grid_of(p), threads, 0,
      stream, p, a);
}

template void rotate_cuda(const Rotate<double, double> &, Stream);
template void rotate_cuda(const Rotate<float, float> &, Stream);
template void rotate_cuda(const Rotate<Half, float> &, Stream);
template void rotate_and_add_cuda(const RotateAndAdd<double> &, Stream);
template void rotate_and_add_cuda(const RotateAndAdd<float> &, Stream);
template void rotate_and_add_cuda(const RotateAndAdd<Half> &, Stream);
} // namespace tensormg::line_inverse
