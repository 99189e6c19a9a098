#include "kernels/gemm/device.h"
#include "kernels/gemm/kernel.cuh"
#include "kernels/mma/bank_conflicts.h"

namespace tensormg::gemm
{
namespace
{
  using Tf32Shape = mma::M16N8K8<Tf32>;
  using HalfShape = mma::M16N8K16<Half>;

  template <typename Policy_>
  struct Config
  {
    using Policy = Policy_;
    static constexpr int m = 128, n = 128, k = 16;
    static constexpr int warps_m = 2, warps_n = 4;
    static constexpr int stages = 3;
    static constexpr Copies copies = Copies::async;
    static constexpr Fill fill = Fill::numbers;
    static constexpr bool buffered = false; ///< the split fragments fill the registers
    using LayoutA = mma::RowMajor<k + 4>;
    using LayoutB = mma::RowMajor<n + 8>;
  };
  static_assert(
      mma::fragment_wavefronts<Tf32Shape, Operand::a>(mma::RowMajor<16 + 4>()).conflicts() == 0);
  static_assert(
      mma::fragment_wavefronts<Tf32Shape, Operand::b>(mma::RowMajor<128 + 8>()).conflicts() == 0);

  constexpr int half_scale_bits = 11; ///< what is small for FP16 becomes as large as what is big

  template <SingleMethod method>
  struct PolicyOf;
  template <>
  struct PolicyOf<SingleMethod::tf32>
  {
    using type = Plain<Tf32Shape>;
  };
  template <>
  struct PolicyOf<SingleMethod::tf32_three>
  {
    using type = ThreeProducts<Tf32Shape>;
  };
  template <>
  struct PolicyOf<SingleMethod::tf32_corrected>
  {
    using type = Corrected<Tf32Shape, 0>;
  };
  template <>
  struct PolicyOf<SingleMethod::fp16_corrected>
  {
    using type = Corrected<HalfShape, half_scale_bits>;
  };
} // namespace

template <SingleMethod method>
void single(const Size &size, const float *a, const float *b, float *c, Stream stream)
{
  run<Config<typename PolicyOf<method>::type>>(
      "launching the FP32 product on tensor cores", size, a, b, c, stream);
}

template void single<SingleMethod::tf32>(
    const Size &, const float *, const float *, float *, Stream);
template void single<SingleMethod::tf32_three>(
    const Size &, const float *, const float *, float *, Stream);
template void single<SingleMethod::tf32_corrected>(
    const Size &, const float *, const float *, float *, Stream);
template void single<SingleMethod::fp16_corrected>(
    const Size &, const float *, const float *, float *, Stream);
} // namespace tensormg::gemm
