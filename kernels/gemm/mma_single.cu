#include "kernels/gemm/single.cuh"

namespace tensormg::gemm
{
namespace
{
  template <Format format>
  using ShapeOf =
      std::conditional_t<format == Format::tf32, mma::M16N8K8<Tf32>, mma::M16N8K16<Half>>;
} // namespace

template <SinglePolicy policy>
void single_batched(
    const Size &size, std::int64_t count, const float *a, const float *b, float *c, Stream stream)
{
  run_single<ShapeOf<policy.format>, policy.correction>(
      "launching the FP32 product on the tensor cores", size, count, a, b, c, stream);
}

template void single_batched<SinglePolicy{Unit::mma, Format::tf32, Correction::none}>(
    const Size &, std::int64_t, const float *, const float *, float *, Stream);
template void single_batched<SinglePolicy{Unit::mma, Format::tf32, Correction::three_products}>(
    const Size &, std::int64_t, const float *, const float *, float *, Stream);
template void single_batched<SinglePolicy{Unit::mma, Format::tf32, Correction::outside}>(
    const Size &, std::int64_t, const float *, const float *, float *, Stream);
template void single_batched<SinglePolicy{Unit::mma, Format::fp16, Correction::none}>(
    const Size &, std::int64_t, const float *, const float *, float *, Stream);
template void single_batched<SinglePolicy{Unit::mma, Format::fp16, Correction::outside}>(
    const Size &, std::int64_t, const float *, const float *, float *, Stream);
} // namespace tensormg::gemm
