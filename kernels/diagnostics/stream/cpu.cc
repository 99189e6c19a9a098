#include "kernels/core/simd.h"
#include "kernels/diagnostics/stream/stream.h"

namespace tensormg::stream
{
namespace
{
  constexpr int width = simd::native_width<double>;
  constexpr int unrolled = 8; ///< registers per step: enough to hide the latency of an addition
  constexpr int step = unrolled * width;
  static_assert(granularity % step == 0);
  using Vec = simd::Vec<double, width>;

  /// Makes the compiler believe that memory has changed, so that no pass is dropped.
  void forget() { asm volatile("" ::: "memory"); }

  template <Stores stores>
  TENSORMG_INLINE inline void put(double *to, Vec value)
  {
    if constexpr (stores == Stores::streaming)
      simd::store_streaming<width>(to, value);
    else
      simd::store<width>(to, value);
  }

  double read(std::int64_t size, const double *b)
  {
    Vec sums[unrolled]{};
    for (std::int64_t i = 0; i < size; i += step)
#pragma GCC unroll 8
      for (int u = 0; u < unrolled; ++u)
        sums[u] += simd::load<width>(b + i + u * width);
    for (int u = 1; u < unrolled; ++u)
      sums[0] += sums[u];
    double sum = 0.;
    for (int lane = 0; lane < width; ++lane)
      sum += sums[0][lane];
    return sum;
  }

  template <Stores stores>
  void write(std::int64_t size, double q, double *a)
  {
    const Vec value = simd::broadcast<width>(q);
    for (std::int64_t i = 0; i < size; i += step)
#pragma GCC unroll 8
      for (int u = 0; u < unrolled; ++u)
        put<stores>(a + i + u * width, value);
  }

  template <Stores stores, bool scaled>
  void copy(std::int64_t size, double q, const double *b, double *a)
  {
    for (std::int64_t i = 0; i < size; i += step)
#pragma GCC unroll 8
      for (int u = 0; u < unrolled; ++u)
      {
        const Vec value = simd::load<width>(b + i + u * width);
        put<stores>(a + i + u * width, scaled ? q * value : value);
      }
  }

  template <Stores stores>
  double run(Operation operation, std::int64_t size, std::int64_t passes, double q, const double *b,
      double *a)
  {
    double sum = 0.;
    for (std::int64_t pass = 0; pass < passes; ++pass)
    {
      switch (operation)
      {
        case Operation::read:
          sum = read(size, b);
          break;
        case Operation::write:
          write<stores>(size, q, a);
          break;
        case Operation::copy:
          copy<stores, false>(size, q, b, a);
          break;
        case Operation::scale:
          copy<stores, true>(size, q, b, a);
          break;
      }
      forget();
    }
    return sum;
  }
} // namespace

double cpu(Operation operation, Stores stores, std::int64_t size, std::int64_t passes, double q,
    const double *b, double *a)
{
  return stores == Stores::cached ? run<Stores::cached>(operation, size, passes, q, b, a)
                                  : run<Stores::streaming>(operation, size, passes, q, b, a);
}
} // namespace tensormg::stream
