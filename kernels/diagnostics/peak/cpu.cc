#include <stdexcept>

#include "kernels/core/simd.h"
#include "kernels/diagnostics/peak/peak.h"

namespace tensormg::peak
{
namespace
{
  /// Chains enough for two FMA pipes of five clocks, few enough for sixteen registers.
  constexpr int chains = 12;

  template <typename Number>
  double fma_loop(std::int64_t rounds, double &sink)
  {
    constexpr int width = simd::native_width<Number>;
    simd::Vec<Number, width> sums[chains];
    for (int c = 0; c < chains; ++c)
      sums[c] = simd::broadcast<width>(static_cast<Number>(sink) + static_cast<Number>(c));
    // Unknown to the compiler; the sums stay between the numbers that they begin with.
    const Number factor = static_cast<Number>(sink) + Number(0.5), term = Number(0.5);
    for (std::int64_t r = 0; r < rounds; ++r)
#pragma GCC unroll 12
      for (int c = 0; c < chains; ++c)
        sums[c] = sums[c] * factor + term;
    for (int c = 1; c < chains; ++c)
      sums[0] += sums[c];
    sink = static_cast<double>(sums[0][0]);
    return 2. * width * chains * static_cast<double>(rounds);
  }
} // namespace

double cpu(Unit unit, std::int64_t rounds, double &sink)
{
  if (!host_has(unit))
    throw std::invalid_argument(
        std::string("the host has no unit '") + to_string(unit) + "'; available: FP64, FP32");
  return unit == Unit::fp64 ? fma_loop<double>(rounds, sink) : fma_loop<float>(rounds, sink);
}
} // namespace tensormg::peak
