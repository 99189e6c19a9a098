#include <type_traits>

#include "kernels/device/launch.cuh"
#include "kernels/diagnostics/precision/device.h"
#include "kernels/mma/instructions.cuh"
#include "kernels/tensor/device_resources.cuh"

namespace tensormg::precision
{
namespace
{
  using mma::FragmentC;
  using mma::Operand;

  constexpr int sums_at_once = 8; ///< on the diagonal of a product
  constexpr int threads = 128;

  template <typename Multiplicand>
  __device__ Multiplicand round_to(double value)
  {
    const auto x = static_cast<float>(value);
    if constexpr (std::is_same_v<Multiplicand, double>)
      return value;
    else if constexpr (std::is_same_v<Multiplicand, Tf32>)
      return mma::to_tf32(x);
    else if constexpr (std::is_same_v<Multiplicand, Half>)
      return mma::to_half(x);
    else
      return mma::to_bf16(x);
  }

  template <typename Multiplicand>
  __device__ float value_of(Multiplicand x)
  {
    if constexpr (std::is_same_v<Multiplicand, Half>)
      return Half::to_float_portable(x.bits);
    else
      return static_cast<float>(x);
  }

  /// How factors are split and products added, as in methods.h.
  enum class Scheme : std::uint8_t
  {
    one_product,
    three_products,
    corrected
  };

  /// The factors of one instruction; `value(i, k)` is the one of sum i and product k.
  template <typename S, Operand operand, Scheme scheme, int scale_bits>
  struct Factors
  {
    using M = typename S::Multiplicand;
    mma::Fragment<S, operand> big, small;

    template <typename Value>
    __device__ Factors(int lane, Value value)
    {
      // A has sums as rows, B as columns.
      const auto at = [&](int row, int column) {
        return operand == Operand::a ? value(row, column) : value(column, row);
      };
      big = mma::make_fragment<S, operand>(
          lane, [&](int row, int column) { return round_to<M>(at(row, column)); });
      if constexpr (scheme != Scheme::one_product)
        small = mma::make_fragment<S, operand>(lane, [&](int row, int column) {
          const float x = at(row, column);
          return round_to<M>((x - value_of(round_to<M>(x))) * static_cast<float>(1 << scale_bits));
        });
    }
  };

  /// A warp forms eight sums.
  template <typename S, Scheme scheme, int scale_bits>
  __device__ void form_dots(std::int64_t length, std::int64_t samples, const float *__restrict__ a,
      const float *__restrict__ b, double *__restrict__ results)
  {
    const int lane = static_cast<int>(threadIdx.x);
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * sums_at_once;
    FragmentC<S> sum{}, correction{};
    for (std::int64_t begin = 0; begin < length; begin += S::k)
    {
      const auto factor = [&](const float *from) {
        return [=](int i, int k) {
          const bool exists = i < sums_at_once && first + i < samples && begin + k < length;
          return exists ? from[(first + i) * length + begin + k] : 0.F;
        };
      };
      const Factors<S, Operand::a, scheme, scale_bits> x(lane, factor(a));
      const Factors<S, Operand::b, scheme, scale_bits> y(lane, factor(b));
      if constexpr (scheme == Scheme::three_products)
      {
        mma::mma_sync(sum, x.small, y.big);
        mma::mma_sync(sum, x.big, y.small);
      }
      if constexpr (scheme == Scheme::corrected)
      {
        // The large products start from zero and are added outside of the unit, to nearest.
        FragmentC<S> products{};
        mma::mma_sync(correction, x.small, y.big);
        mma::mma_sync(correction, x.big, y.small);
        mma::mma_sync(products, x.big, y.big);
#pragma unroll
        for (int r = 0; r < FragmentC<S>::n_registers; ++r)
          sum.registers[r] += products.registers[r];
      }
      else
        mma::mma_sync(sum, x.big, y.big);
    }
    if constexpr (scheme == Scheme::corrected)
    {
#pragma unroll
      for (int r = 0; r < FragmentC<S>::n_registers; ++r)
        sum.registers[r] += correction.registers[r] / static_cast<float>(1 << scale_bits);
    }
    mma::foreach_ij(sum, lane, [&](int i, int j, typename S::Accumulator &value) {
      if (i == j && first + i < samples)
        results[first + i] = value;
    });
  }

  template <typename S, Scheme scheme, int scale_bits>
  __global__ void dots_kernel(std::int64_t length, std::int64_t samples,
      const float *__restrict__ a, const float *__restrict__ b, double *__restrict__ results)
  {
    if constexpr (mma::is_available<S>)
      form_dots<S, scheme, scale_bits>(length, samples, a, b, results);
  }

  /// A thread per sum.
  __global__ void __launch_bounds__(threads) fma_kernel(std::int64_t length, std::int64_t samples,
      const float *__restrict__ a, const float *__restrict__ b, double *__restrict__ results)
  {
    const std::int64_t sample = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (sample >= samples)
      return;
    float sum = 0;
    for (std::int64_t k = 0; k < length; ++k)
      sum = fmaf(a[sample * length + k], b[sample * length + k], sum);
    results[sample] = sum;
  }

  /// A warp per sum.
  template <typename S>
  __device__ void form_sum(const double *__restrict__ a, const double *__restrict__ b,
      const double *__restrict__ c, double *__restrict__ results)
  {
    const int lane = static_cast<int>(threadIdx.x);
    const std::int64_t test = blockIdx.x;
    using M = typename S::Multiplicand;
    const auto x = mma::make_fragment<S, Operand::a>(
        lane, [&](int i, int k) { return round_to<M>(i == 0 ? a[test * S::k + k] : 0.); });
    const auto y = mma::make_fragment<S, Operand::b>(
        lane, [&](int k, int j) { return round_to<M>(j == 0 ? b[test * S::k + k] : 0.); });
    using Sum = typename S::Accumulator;
    auto sum = mma::make_fragment<S, Operand::c>(
        lane, [&](int i, int j) { return static_cast<Sum>(i == 0 && j == 0 ? c[test] : 0.); });
    mma::mma_sync(sum, x, y);
    mma::foreach_ij(sum, lane, [&](int i, int j, Sum &value) {
      if (i == 0 && j == 0)
        results[test] = value;
    });
  }

  template <typename S>
  __global__ void sums_kernel(const double *__restrict__ a, const double *__restrict__ b,
      const double *__restrict__ c, double *__restrict__ results)
  {
    if constexpr (mma::is_available<S>)
      form_sum<S>(a, b, c, results);
  }

  template <typename S, Scheme scheme = Scheme::one_product, int scale_bits = 0>
  void dots(std::int64_t length, std::int64_t samples, const float *a, const float *b,
      double *results, Stream stream)
  {
    const auto kernel = dots_kernel<S, scheme, scale_bits>;
    tensor::require_compiled_for(S::min_capability, kernel);
    launch("launching dot products on tensor cores", kernel,
        dim3(static_cast<unsigned>((samples + sums_at_once - 1) / sums_at_once)),
        dim3(mma::warp_size), 0, stream, length, samples, a, b, results);
  }

  template <typename S>
  void sums(std::int64_t tests, const double *a, const double *b, const double *c, double *results,
      Stream stream)
  {
    tensor::require_compiled_for(S::min_capability, sums_kernel<S>);
    launch("launching sums on tensor cores", sums_kernel<S>, dim3(static_cast<unsigned>(tests)),
        dim3(mma::warp_size), 0, stream, a, b, c, results);
  }

  using InFp64 = mma::M16N8K4<double>;
  using InTf32 = mma::M16N8K8<Tf32>;
  using InFp16 = mma::M16N8K16<Half>;
  using InBf16 = mma::M16N8K16<Bf16>;
} // namespace

void device_dots(DeviceMethod method, std::int64_t length, std::int64_t samples, const float *a,
    const float *b, double *results, Stream stream)
{
  if (samples == 0)
    return;
  switch (method)
  {
    case DeviceMethod::fp64:
      return dots<InFp64>(length, samples, a, b, results, stream);
    case DeviceMethod::fp32:
      return launch("launching dot products", fma_kernel,
          dim3(static_cast<unsigned>((samples + threads - 1) / threads)), dim3(threads), 0, stream,
          length, samples, a, b, results);
    case DeviceMethod::tf32:
      return dots<InTf32>(length, samples, a, b, results, stream);
    case DeviceMethod::fp16:
      return dots<InFp16>(length, samples, a, b, results, stream);
    case DeviceMethod::bf16:
      return dots<InBf16>(length, samples, a, b, results, stream);
    case DeviceMethod::three_tf32:
      return dots<InTf32, Scheme::three_products>(length, samples, a, b, results, stream);
    case DeviceMethod::tf32_corrected:
      return dots<InTf32, Scheme::corrected>(length, samples, a, b, results, stream);
    case DeviceMethod::fp16_corrected:
      return dots<InFp16, Scheme::corrected, 11>(length, samples, a, b, results, stream);
    case DeviceMethod::three_bf16:
      return dots<InBf16, Scheme::three_products>(length, samples, a, b, results, stream);
  }
}

void device_sums(TensorUnit unit, std::int64_t tests, const double *a, const double *b,
    const double *c, double *results, Stream stream)
{
  if (tests == 0)
    return;
  switch (unit)
  {
    case TensorUnit::fp64:
      return sums<InFp64>(tests, a, b, c, results, stream);
    case TensorUnit::tf32:
      return sums<InTf32>(tests, a, b, c, results, stream);
    case TensorUnit::fp16:
      return sums<InFp16>(tests, a, b, c, results, stream);
    case TensorUnit::bf16:
      return sums<InBf16>(tests, a, b, c, results, stream);
  }
}
} // namespace tensormg::precision
