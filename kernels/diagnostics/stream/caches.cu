#include "kernels/diagnostics/stream/caches.h"

#include <stdexcept>

#include "kernels/device/launch.cuh"
#include "kernels/diagnostics/stream/store_sum.cuh"

namespace tensormg::stream
{
namespace
{
  constexpr int threads = 512, most_under_way = 8;
  static_assert(slice_granularity / 2 == threads, "a pass is at least one word per thread");

  template <Cache cache>
  __device__ double2 load(const double2 *from)
  {
    return cache == Cache::first ? __ldca(from) : __ldcg(from);
  }

  /// A thread's words of `count` steps, all loads under way together. Positions wrap at the end of the slice, which the
  /// compiler does not know, so that it takes no pass for the one before.
  template <Operation operation, Cache cache, int count>
  __device__ __forceinline__ void take_steps(
      int first, int mask, double q, const double2 *from, double2 *to, double2 &sum)
  {
    constexpr bool reads = operation != Operation::write, writes = operation != Operation::read;
    double2 values[count];
#pragma unroll
    for (int w = 0; w < count; ++w)
      if constexpr (reads)
        values[w] = load<cache>(from + ((first + w * threads) & mask));
      else
        values[w] = make_double2(q, q);
    const double factor = operation == Operation::scale ? q : 1.;
#pragma unroll
    for (int w = 0; w < count; ++w)
      if constexpr (writes)
        __stcg(to + ((first + w * threads) & mask),
            make_double2(factor * values[w].x, factor * values[w].y));
      else
        sum = make_double2(sum.x + values[w].x, sum.y + values[w].y);
  }

  /// Thread t has words t, t + threads, ...
  template <Operation operation, Cache cache, int under_way>
  __global__ void __launch_bounds__(threads)
      slices_kernel(int n_words, int steps, double q, const double2 *b, double *a)
  {
    const int mask = n_words - 1, thread = static_cast<int>(threadIdx.x);
    const std::int64_t slice = static_cast<std::int64_t>(blockIdx.x) * n_words;
    const double2 *const from = b + slice;
    double2 *const to = reinterpret_cast<double2 *>(a) + slice;
    double2 sums = make_double2(0., 0.);
    int step = 0;
    for (; step + under_way <= steps; step += under_way)
      take_steps<operation, cache, under_way>(thread + step * threads, mask, q, from, to, sums);
    for (; step < steps; ++step)
      take_steps<operation, cache, 1>(thread + step * threads, mask, q, from, to, sums);
    if constexpr (operation == Operation::read)
      store_sum<threads>(sums.x + sums.y, a);
  }

  template <Operation operation, Cache cache, int under_way>
  void run_with(int slices, std::int64_t size, int passes, double q, const double *b, double *a,
      Stream stream)
  {
    const auto n_words = static_cast<int>(size / 2);
    launch("launching the streaming kernel of caches", slices_kernel<operation, cache, under_way>,
        dim3(static_cast<unsigned>(slices)), dim3(threads), 0, stream, n_words,
        passes * (n_words / threads), q, reinterpret_cast<const double2 *>(b), a);
  }

  /// No more under way to L2 than a thread has words: the device would take accesses to the same line for one (14 TB/s of scale
  /// where L2 has 8).
  template <Operation operation, Cache cache>
  void run(int slices, std::int64_t size, int passes, double q, const double *b, double *a,
      Stream stream)
  {
    const std::int64_t words = size / 2 / threads;
    const auto launch_with = words >= most_under_way || cache == Cache::first
        ? &run_with<operation, cache, most_under_way>
        : words >= 4 ? &run_with<operation, cache, 4>
        : words >= 2 ? &run_with<operation, cache, 2>
                     : &run_with<operation, cache, 1>;
    launch_with(slices, size, passes, q, b, a, stream);
  }
} // namespace

void cuda_slices(Operation operation, Cache cache, int slices, std::int64_t size, int passes,
    double q, const double *b, double *a, Stream stream)
{
  constexpr std::int64_t largest = std::int64_t(1)
      << 24; // positions and steps are numbers of 32 bits
  if (size < slice_granularity || size > largest || (size & (size - 1)) != 0 || passes < 1 ||
      passes > 2 * largest * threads / size)
    throw std::invalid_argument(
        "a slice has a power of two of numbers, 1024 or more, and passes are few enough to count");
  if (cache == Cache::first && operation != Operation::read)
    throw std::invalid_argument(
        "stores go through the first cache of a device: read alone is its own");
  if (slices == 0)
    return;
  if (cache == Cache::first)
    return run<Operation::read, Cache::first>(slices, size, passes, q, b, a, stream);
  switch (operation)
  {
    case Operation::read:
      return run<Operation::read, Cache::second>(slices, size, passes, q, b, a, stream);
    case Operation::write:
      return run<Operation::write, Cache::second>(slices, size, passes, q, b, a, stream);
    case Operation::copy:
      return run<Operation::copy, Cache::second>(slices, size, passes, q, b, a, stream);
    case Operation::scale:
      return run<Operation::scale, Cache::second>(slices, size, passes, q, b, a, stream);
  }
}
} // namespace tensormg::stream
