// The product of FP32 matrices by a policy: configuration that the units share.
#pragma once

#include "kernels/diagnostics/gemm/device.h"
#include "kernels/diagnostics/gemm/divided.cuh"
#include "kernels/mma/bank_conflicts.h"

namespace tensormg::gemm
{
template <typename Policy_>
struct SingleConfig
{
  using Policy = Policy_;
  static constexpr int m = 128, n = 128, k = 16;
  static constexpr int warps_m = 2, warps_n = 4;
  static constexpr int stages = 3;
  static constexpr Copies copies = Copies::async;
  static constexpr Fill fill = Fill::numbers;
  static constexpr bool batched = true;
  static constexpr int least_blocks = 1;
  static constexpr bool buffered = false; ///< the split fragments fill the registers
  using LayoutA = mma::RowMajor<k + 4>;
  using LayoutB = mma::RowMajor<n + 8>;
};
static_assert(
    mma::fragment_wavefronts<mma::M16N8K8<Tf32>, Operand::a>(mma::RowMajor<16 + 4>()).conflicts() ==
    0);
static_assert(mma::fragment_wavefronts<mma::M16N8K8<Tf32>, Operand::b>(mma::RowMajor<128 + 8>())
                  .conflicts() == 0);

/// What is small for FP16 becomes as large as what is big.
inline constexpr int half_scale_bits = 11;

template <typename S, Correction correction>
struct ArithmeticOf;
template <typename S>
struct ArithmeticOf<S, Correction::none>
{
  using type = Rounded<S>;
};
template <typename S>
struct ArithmeticOf<S, Correction::three_products>
{
  using type = ThreeProducts<S>;
};
template <typename S>
struct ArithmeticOf<S, Correction::outside>
{
  using type = Corrected<S, std::is_same_v<typename S::Multiplicand, Half> ? half_scale_bits : 0>;
};

template <Unit unit, Format format>
struct ShapeOf;
template <>
struct ShapeOf<Unit::mma, Format::tf32>
{
  using type = mma::M16N8K8<Tf32>;
};
template <>
struct ShapeOf<Unit::mma, Format::fp16>
{
  using type = mma::M16N8K16<Half>;
};
template <>
struct ShapeOf<Unit::wmma, Format::tf32>
{
  using type = WmmaTf32;
};
template <>
struct ShapeOf<Unit::cuda_cores, Format::fp32>
{
  using type = CudaCores<float>;
};
template <>
struct ShapeOf<Unit::cuda_cores, Format::tf32>
{
  using type = CudaCores<Tf32>;
};
template <>
struct ShapeOf<Unit::cuda_cores, Format::fp16>
{
  using type = CudaCores<Half>;
};

template <SinglePolicy policy>
using SingleConfigOf =
    SingleConfig<typename ArithmeticOf<typename ShapeOf<policy.unit, policy.format>::type,
        policy.correction>::type>;

template <SinglePolicy policy>
std::int64_t Single<policy>::workspace(const Size &size)
{
  using Config = SingleConfigOf<policy>;
  return divided_numbers<Config>(divide_few_tiles(work_of<Config>(size)));
}

template <SinglePolicy policy>
void Single<policy>::multiply(
    const Size &size, const float *a, const float *b, float *c, float *workspace, Stream stream)
{
  using Config = SingleConfigOf<policy>;
  run_divided<Config>("launching the FP32 product", size, divide_few_tiles(work_of<Config>(size)),
      a, b, c, workspace, stream);
}

template <SinglePolicy policy>
void Single<policy>::multiply_batch(
    const Size &size, std::int64_t count, const float *a, const float *b, float *c, Stream stream)
{
  run<SingleConfigOf<policy>>("launching the FP32 product", size, a, b, c, stream, count);
}
} // namespace tensormg::gemm
