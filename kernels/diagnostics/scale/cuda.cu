#include <bit>

#include <cuda_fp16.h>

#include "kernels/device/launch.cuh"
#include "kernels/diagnostics/scale/scale.h"
#include "kernels/diagnostics/scale/words.cuh"

namespace tensormg::scale
{
namespace
{
  /// One multiplication per number.
  template <typename Number>
  struct ByMultiplication
  {
    static __device__ void scale(double q, Word (&words)[words_per_thread])
    {
#pragma unroll
      for (Word &word : words)
      {
        Numbers<Number> numbers = numbers_of<Number>(word);
#pragma unroll
        for (Number &x : numbers.values)
          x = multiply(q, x);
        word = word_of(numbers);
      }
    }

  private:
    static __device__ double multiply(double q, double x) { return q * x; }
    static __device__ float multiply(double q, float x) { return static_cast<float>(q) * x; }
    static __device__ Half multiply(double q, Half x)
    {
      const float value = __half2float(std::bit_cast<__half>(x));
      return std::bit_cast<Half>(__float2half_rn(static_cast<float>(q) * value));
    }
  };
} // namespace

template <typename Number>
void cuda(std::int64_t size, double q, const Number *b, Number *a, Stream stream)
{
  launch_words<ByMultiplication<Number>>("launching the scale kernel", size, q, b, a, stream);
}

template void cuda(std::int64_t, double, const double *, double *, Stream);
template void cuda(std::int64_t, double, const float *, float *, Stream);
template void cuda(std::int64_t, double, const Half *, Half *, Stream);
} // namespace tensormg::scale
