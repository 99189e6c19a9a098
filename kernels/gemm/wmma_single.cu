#include "kernels/gemm/single.cuh"

namespace tensormg::gemm
{
namespace
{
  template <Format format>
  using ShapeOf = WmmaTf32;
} // namespace

template <SinglePolicy policy>
void single(const Size &size, const float *a, const float *b, float *c, Stream stream)
{
  run_single<ShapeOf<policy.format>, policy.correction>(
      "launching the FP32 product on WMMA", size, a, b, c, stream);
}

template void single<SinglePolicy{Unit::wmma, Format::tf32, Correction::none}>(
    const Size &, const float *, const float *, float *, Stream);
template void single<SinglePolicy{Unit::wmma, Format::tf32, Correction::outside}>(
    const Size &, const float *, const float *, float *, Stream);
} // namespace tensormg::gemm
