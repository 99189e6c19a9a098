// Pointwise; a thread has 16 bytes of both vectors at a time.
#include <algorithm>

#include "kernels/device/launch.cuh"
#include "kernels/device/pack.cuh"
#include "kernels/patch/cuda.h"

namespace tensormg::patch
{
namespace
{
  constexpr int threads = 256;

  template <typename Number>
  __global__ void __launch_bounds__(threads)
      extrapolate_kernel(std::int64_t packs, Compute<Number> theta, Number *x, Number *old)
  {
    constexpr int width = 16 / static_cast<int>(sizeof(Number));
    const std::int64_t step = std::int64_t(gridDim.x) * threads;
    for (std::int64_t at = std::int64_t(blockIdx.x) * threads + threadIdx.x; at < packs; at += step)
    {
      const auto now = load_pack<width>(x + at * width);
      if (theta != 0)
        store_pack(x + at * width, (1 + theta) * now + -theta * load_pack<width>(old + at * width));
      store_pack(old + at * width, now);
    }
  }
} // namespace

template <typename Number>
void extrapolate_cuda(std::int64_t size, double theta, Number *x, Number *old, Stream stream)
{
  // Rows are padded to whole packs.
  const std::int64_t packs = size * static_cast<std::int64_t>(sizeof(Number)) / 16;
  if (packs == 0)
    return;
  const auto blocks = std::min<std::int64_t>((packs + threads - 1) / threads, 65535);
  launch("launching the extrapolation", &extrapolate_kernel<Number>,
      dim3(static_cast<unsigned>(blocks)), dim3(threads), 0, stream, packs,
      static_cast<Compute<Number>>(theta), x, old);
}

template void extrapolate_cuda(std::int64_t, double, double *, double *, Stream);
template void extrapolate_cuda(std::int64_t, double, float *, float *, Stream);
template void extrapolate_cuda(std::int64_t, double, Half *, Half *, Stream);
} // namespace tensormg::patch
