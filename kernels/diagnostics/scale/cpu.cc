#include "kernels/core/simd.h"
#include "kernels/diagnostics/scale/scale.h"

namespace tensormg::scale
{
void cpu(std::int64_t size, double q, const double *b, double *a)
{
  constexpr int width = simd::native_width<double>;
  const std::int64_t whole = size / width * width;
  for (std::int64_t i = 0; i < whole; i += width)
  {
    const simd::Vec<double, width> value = q * simd::load<width>(b + i);
    simd::store_streaming<width>(a + i, value);
  }
  for (std::int64_t i = whole; i < size; ++i)
    a[i] = q * b[i];
}
} // namespace tensormg::scale
