#include "kernels/device/launch.cuh"
#include "kernels/diagnostics/stream/store_sum.cuh"
#include "kernels/diagnostics/stream/stream.h"

namespace tensormg::stream
{
namespace
{
  constexpr int threads = 256;
  constexpr int words_per_thread = 4; ///< of 16 bytes, under way together
  constexpr int words_per_block = threads * words_per_thread;

  template <Operation operation>
  __global__ void __launch_bounds__(threads)
      stream_kernel(std::int64_t n_words, double q, const double2 *__restrict__ b, double *a)
  {
    constexpr bool reads = operation != Operation::write, writes = operation != Operation::read;
    const std::int64_t first =
        static_cast<std::int64_t>(blockIdx.x) * words_per_block + threadIdx.x;
    double2 values[words_per_thread];
#pragma unroll
    for (int w = 0; w < words_per_thread; ++w)
    {
      const std::int64_t at = first + w * threads;
      values[w] = make_double2(reads ? 0. : q, reads ? 0. : q);
      if (reads && at < n_words)
        values[w] = __ldcs(b + at);
    }
    if constexpr (writes)
    {
      const double factor = operation == Operation::scale ? q : 1.;
#pragma unroll
      for (int w = 0; w < words_per_thread; ++w)
        if (const std::int64_t at = first + w * threads; at < n_words)
          __stcs(reinterpret_cast<double2 *>(a) + at,
              make_double2(factor * values[w].x, factor * values[w].y));
    }
    else
    {
      double sum = 0.;
#pragma unroll
      for (int w = 0; w < words_per_thread; ++w)
        sum += values[w].x + values[w].y;
      store_sum<threads>(sum, a);
    }
  }

  template <Operation operation>
  void run(std::int64_t size, double q, const double *b, double *a, Stream stream)
  {
    launch("launching the streaming kernel", stream_kernel<operation>,
        dim3(static_cast<unsigned>(n_sums(size))), dim3(threads), 0, stream, size / 2, q,
        reinterpret_cast<const double2 *>(b), a);
  }
} // namespace

std::int64_t n_sums(std::int64_t size)
{
  return (size / 2 + words_per_block - 1) / words_per_block;
}

void cuda(
    Operation operation, std::int64_t size, double q, const double *b, double *a, Stream stream)
{
  if (size == 0)
    return;
  switch (operation)
  {
    case Operation::read:
      return run<Operation::read>(size, q, b, a, stream);
    case Operation::write:
      return run<Operation::write>(size, q, b, a, stream);
    case Operation::copy:
      return run<Operation::copy>(size, q, b, a, stream);
    case Operation::scale:
      return run<Operation::scale>(size, q, b, a, stream);
  }
}
} // namespace tensormg::stream
