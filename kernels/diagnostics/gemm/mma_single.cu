// Products of FP32 matrices on mma.sync.
#include "kernels/diagnostics/gemm/single.cuh"

namespace tensormg::gemm
{
template struct Single<SinglePolicy{Unit::mma, Format::tf32, Correction::none}>;
template struct Single<SinglePolicy{Unit::mma, Format::tf32, Correction::three_products}>;
template struct Single<SinglePolicy{Unit::mma, Format::tf32, Correction::outside}>;
template struct Single<SinglePolicy{Unit::mma, Format::fp16, Correction::none}>;
template struct Single<SinglePolicy{Unit::mma, Format::fp16, Correction::outside}>;
} // namespace tensormg::gemm
