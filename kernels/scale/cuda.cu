#include "kernels/core/cuda_check.h"
#include "kernels/scale/scale.h"

namespace tensormg::scale
{
namespace
{
  constexpr int threads = 256;
  constexpr int words_per_thread = 4; ///< loads in flight

  /// Words of 16 bytes; a block owns threads * words_per_thread of them.
  __global__ void __launch_bounds__(threads)
      scale_kernel(std::int64_t n_words, double q, const double2 *__restrict__ b, double2 *a)
  {
    const std::int64_t first =
        static_cast<std::int64_t>(blockIdx.x) * (threads * words_per_thread) + threadIdx.x;
    double2 values[words_per_thread];
#pragma unroll
    for (int w = 0; w < words_per_thread; ++w)
      if (const std::int64_t at = first + w * threads; at < n_words)
        values[w] = __ldcs(b + at);
#pragma unroll
    for (int w = 0; w < words_per_thread; ++w)
      if (const std::int64_t at = first + w * threads; at < n_words)
        __stcs(a + at, make_double2(q * values[w].x, q * values[w].y));
  }
} // namespace

void cuda(std::int64_t size, double q, const double *b, double *a, Stream stream)
{
  if (size == 0)
    return;
  const std::int64_t n_words = size / 2, per_block = threads * words_per_thread;
  const auto blocks = static_cast<unsigned>((n_words + per_block - 1) / per_block);
  scale_kernel<<<blocks, threads, 0, stream>>>(
      n_words, q, reinterpret_cast<const double2 *>(b), reinterpret_cast<double2 *>(a));
  check_launch("scale kernel");
}
} // namespace tensormg::scale
