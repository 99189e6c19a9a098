// Products of FP32 matrices on WMMA.
#include "kernels/diagnostics/gemm/single.cuh"

namespace tensormg::gemm
{
template struct Single<SinglePolicy{Unit::wmma, Format::tf32, Correction::none}>;
template struct Single<SinglePolicy{Unit::wmma, Format::tf32, Correction::outside}>;
} // namespace tensormg::gemm
