// Products of FP32 matrices on CUDA cores.
#include "kernels/diagnostics/gemm/single.cuh"

namespace tensormg::gemm
{
template struct Single<SinglePolicy{Unit::cuda_cores, Format::fp32, Correction::none}>;
template struct Single<SinglePolicy{Unit::cuda_cores, Format::tf32, Correction::none}>;
template struct Single<SinglePolicy{Unit::cuda_cores, Format::tf32, Correction::outside}>;
template struct Single<SinglePolicy{Unit::cuda_cores, Format::fp16, Correction::none}>;
template struct Single<SinglePolicy{Unit::cuda_cores, Format::fp16, Correction::outside}>;
} // namespace tensormg::gemm
