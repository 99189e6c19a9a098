// Products of FP32 matrices on CUDA cores.
#include "kernels/gemm/single.cuh"

namespace tensormg::gemm
{
template void single_batched<SinglePolicy{Unit::cuda_cores, Format::fp32, Correction::none}>(
    const Size &, std::int64_t, const float *, const float *, float *, Stream);
template void single_batched<SinglePolicy{Unit::cuda_cores, Format::tf32, Correction::none}>(
    const Size &, std::int64_t, const float *, const float *, float *, Stream);
template void single_batched<SinglePolicy{Unit::cuda_cores, Format::tf32, Correction::outside}>(
    const Size &, std::int64_t, const float *, const float *, float *, Stream);
template void single_batched<SinglePolicy{Unit::cuda_cores, Format::fp16, Correction::none}>(
    const Size &, std::int64_t, const float *, const float *, float *, Stream);
template void single_batched<SinglePolicy{Unit::cuda_cores, Format::fp16, Correction::outside}>(
    const Size &, std::int64_t, const float *, const float *, float *, Stream);
template std::int64_t single_workspace<SinglePolicy{
    Unit::cuda_cores, Format::fp32, Correction::none}>(const Size &);
template void single<SinglePolicy{Unit::cuda_cores, Format::fp32, Correction::none}>(
    const Size &, const float *, const float *, float *, float *, Stream);
template std::int64_t single_workspace<SinglePolicy{
    Unit::cuda_cores, Format::tf32, Correction::none}>(const Size &);
template void single<SinglePolicy{Unit::cuda_cores, Format::tf32, Correction::none}>(
    const Size &, const float *, const float *, float *, float *, Stream);
template std::int64_t single_workspace<SinglePolicy{
    Unit::cuda_cores, Format::tf32, Correction::outside}>(const Size &);
template void single<SinglePolicy{Unit::cuda_cores, Format::tf32, Correction::outside}>(
    const Size &, const float *, const float *, float *, float *, Stream);
template std::int64_t single_workspace<SinglePolicy{
    Unit::cuda_cores, Format::fp16, Correction::none}>(const Size &);
template void single<SinglePolicy{Unit::cuda_cores, Format::fp16, Correction::none}>(
    const Size &, const float *, const float *, float *, float *, Stream);
template std::int64_t single_workspace<SinglePolicy{
    Unit::cuda_cores, Format::fp16, Correction::outside}>(const Size &);
template void single<SinglePolicy{Unit::cuda_cores, Format::fp16, Correction::outside}>(
    const Size &, const float *, const float *, float *, float *, Stream);
} // namespace tensormg::gemm
