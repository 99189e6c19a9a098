#include <algorithm>

#include "kernels/device/launch.cuh"
#include "kernels/diagnostics/stencil/sample.h"

namespace tensormg::stencil
{
namespace
{
  constexpr int threads = 256;
  constexpr std::int64_t max_blocks = 4096;

  template <typename Number>
  __global__ void __launch_bounds__(threads)
      sample_kernel(std::int64_t size, const Number *__restrict__ u, std::int64_t n_points,
          const std::int64_t *__restrict__ points, Number *values, int *not_finite)
  {
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t i = first; i < n_points; i += stride)
      values[i] = u[points[i]];
    bool finite = true;
    for (std::int64_t i = first; i < size; i += stride)
      finite = finite && u[i] - u[i] == Number(0);
    if (!finite)
      *not_finite = 1; // whoever writes it writes the same
  }
} // namespace

template <typename Number>
void cuda_sample(std::int64_t size, const Number *u, std::int64_t n_points,
    const std::int64_t *points, Number *values, int *not_finite, Stream stream)
{
  if (size == 0)
    return;
  const std::int64_t blocks = std::min(max_blocks, (size + threads - 1) / threads);
  launch("launching the sample of a stencil", sample_kernel<Number>,
      dim3(static_cast<unsigned>(blocks)), dim3(threads), 0, stream, size, u, n_points, points,
      values, not_finite);
}

template void cuda_sample(
    std::int64_t, const double *, std::int64_t, const std::int64_t *, double *, int *, Stream);
template void cuda_sample(
    std::int64_t, const float *, std::int64_t, const std::int64_t *, float *, int *, Stream);
} // namespace tensormg::stencil
