#include "kernels/device/launch.cuh"
#include "kernels/diagnostics/stencil/stencil.h"

namespace tensormg::stencil
{
namespace
{
  constexpr int threads = 256;

  /// A kernel's copy of the taps, all of one size.
  template <typename Number>
  struct Taps
  {
    int count;
    short dx[max_taps], dy[max_taps], dz[max_taps];
    Number weight[max_taps];
  };

  template <typename Number>
  Taps<Number> make_taps(const Stencil &stencil)
  {
    Taps<Number> taps{};
    taps.count = stencil.n_taps;
    for (int t = 0; t < stencil.n_taps; ++t)
    {
      const Tap &tap = stencil.taps[static_cast<std::size_t>(t)];
      taps.dx[t] = static_cast<short>(tap.offset[0]);
      taps.dy[t] = static_cast<short>(tap.offset[1]);
      taps.dz[t] = static_cast<short>(tap.offset[2]);
      taps.weight[t] = static_cast<Number>(tap.weight);
    }
    return taps;
  }

  struct Size
  {
    std::int64_t x, y, z;
  };

  template <typename Number>
  __global__ void __launch_bounds__(threads) naive_kernel(
      Taps<Number> taps, Size n, const Number *__restrict__ from, Number *__restrict__ to)
  {
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (at >= n.x * n.y * n.z)
      return;
    const std::int64_t x = at % n.x, y = at / n.x % n.y, z = at / n.x / n.y;
    Number sum = 0;
    for (int t = 0; t < taps.count; ++t)
    {
      const std::int64_t at_x = x + taps.dx[t], at_y = y + taps.dy[t], at_z = z + taps.dz[t];
      if (at_x >= 0 && at_x < n.x && at_y >= 0 && at_y < n.y && at_z >= 0 && at_z < n.z)
        sum += taps.weight[t] * __ldg(from + (at_z * n.y + at_y) * n.x + at_x);
    }
    to[at] = sum;
  }

  std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
} // namespace

template <typename Number>
void cuda_naive(
    const Stencil &stencil, const Grid &grid, const Number *from, Number *to, Stream stream)
{
  if (grid.size() == 0)
    return;
  const auto [nx, ny, nz] = grid.points;
  launch("launching the naive stencil", naive_kernel<Number>,
      dim3(static_cast<unsigned>(divide_up(grid.size(), threads))), dim3(threads), 0, stream,
      make_taps<Number>(stencil), Size{nx, ny, nz}, from, to);
}

template void cuda_naive(const Stencil &, const Grid &, const double *, double *, Stream);
template void cuda_naive(const Stencil &, const Grid &, const float *, float *, Stream);
} // namespace tensormg::stencil
