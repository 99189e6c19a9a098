// What device.h declares, in a build without CUDA. With CUDA, the files *.cu take its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/diagnostics/gemm/device.h"

namespace tensormg::gemm
{
namespace
{
  [[noreturn]] void fail() { throw DeviceError("no device: " + why_no_device()); }
} // namespace

template <Rung rung>
void fp16(const Size &, const Half *, const Half *, float *, Stream)
{
  fail();
}
template <Rung rung>
Blocking fp16_blocking()
{
  fail();
}
Blocking fp16_wgmma_blocking() { fail(); }
template <typename Number>
std::int64_t wgmma_workspace(const Size &)
{
  return 0;
}
template std::int64_t wgmma_workspace<Half>(const Size &);
template std::int64_t wgmma_workspace<float>(const Size &);
void fp16_wgmma(const Size &, const Half *, const Half *, float *, Half *, Stream) { fail(); }
void fp16_wgmma_largest(const Size &, const Half *, const Half *, float *, Half *, Stream)
{
  fail();
}
template <Rung rung>
double fp16_shared_bytes(const Size &)
{
  fail();
}
template <Fp64Shape shape>
double fp64_shared_bytes(const Size &)
{
  fail();
}
template <Fp64Shape shape>
std::int64_t fp64_workspace(const Size &)
{
  fail();
}
template <Fp64Shape shape>
void fp64(const Size &, const double *, const double *, double *, double *, Stream)
{
  fail();
}
template <SinglePolicy policy>
std::int64_t Single<policy>::workspace(const Size &)
{
  fail();
}
template <SinglePolicy policy>
void Single<policy>::multiply(const Size &, const float *, const float *, float *, float *, Stream)
{
  fail();
}
template <SinglePolicy policy>
void Single<policy>::multiply_batch(
    const Size &, std::int64_t, const float *, const float *, float *, Stream)
{
  fail();
}
void single_wgmma(const Size &, const float *, const float *, float *, float *, Stream) { fail(); }
void cublas_fp16(const Size &, const Half *, const Half *, float *, Stream) { fail(); }
void cublas_bf16(const Size &, const Bf16 *, const Bf16 *, float *, Stream) { fail(); }
void cublas_fp64(const Size &, const double *, const double *, double *, Stream) { fail(); }
void cublas_fp32(const Size &, const float *, const float *, float *, Stream) { fail(); }
void cublas_fp32_batched(const Size &, std::int64_t, const float *, const float *, float *, Stream)
{
  fail();
}
void cublas_tf32(const Size &, const float *, const float *, float *, Stream) { fail(); }

template void fp16<Rung::naive>(const Size &, const Half *, const Half *, float *, Stream);
template void fp16<Rung::more_tiles>(const Size &, const Half *, const Half *, float *, Stream);
template void fp16<Rung::permuted>(const Size &, const Half *, const Half *, float *, Stream);
template void fp16<Rung::buffered>(const Size &, const Half *, const Half *, float *, Stream);
template void fp16<Rung::staged>(const Size &, const Half *, const Half *, float *, Stream);
template void fp16<Rung::larger>(const Size &, const Half *, const Half *, float *, Stream);
template void fp16<Rung::cuda_cores>(const Size &, const Half *, const Half *, float *, Stream);
template Blocking fp16_blocking<Rung::larger>();
template double fp16_shared_bytes<Rung::naive>(const Size &);
template double fp16_shared_bytes<Rung::more_tiles>(const Size &);
template double fp16_shared_bytes<Rung::permuted>(const Size &);
template double fp16_shared_bytes<Rung::buffered>(const Size &);
template double fp16_shared_bytes<Rung::staged>(const Size &);
template double fp16_shared_bytes<Rung::larger>(const Size &);
template double fp16_shared_bytes<Rung::cuda_cores>(const Size &);
template double fp64_shared_bytes<Fp64Shape::m8n8k4>(const Size &);
template double fp64_shared_bytes<Fp64Shape::m16n8k4>(const Size &);
template double fp64_shared_bytes<Fp64Shape::m16n8k8>(const Size &);
template double fp64_shared_bytes<Fp64Shape::cuda_cores>(const Size &);
template void fp64<Fp64Shape::m8n8k4>(
    const Size &, const double *, const double *, double *, double *, Stream);
template void fp64<Fp64Shape::m16n8k4>(
    const Size &, const double *, const double *, double *, double *, Stream);
template void fp64<Fp64Shape::m16n8k8>(
    const Size &, const double *, const double *, double *, double *, Stream);
template void fp64<Fp64Shape::cuda_cores>(
    const Size &, const double *, const double *, double *, double *, Stream);
template std::int64_t fp64_workspace<Fp64Shape::m8n8k4>(const Size &);
template std::int64_t fp64_workspace<Fp64Shape::m16n8k4>(const Size &);
template std::int64_t fp64_workspace<Fp64Shape::m16n8k8>(const Size &);
template std::int64_t fp64_workspace<Fp64Shape::cuda_cores>(const Size &);
template struct Single<SinglePolicy{Unit::mma, Format::tf32, Correction::none}>;
template struct Single<SinglePolicy{Unit::mma, Format::tf32, Correction::three_products}>;
template struct Single<SinglePolicy{Unit::mma, Format::tf32, Correction::outside}>;
template struct Single<SinglePolicy{Unit::mma, Format::fp16, Correction::none}>;
template struct Single<SinglePolicy{Unit::mma, Format::fp16, Correction::outside}>;
template struct Single<SinglePolicy{Unit::wmma, Format::tf32, Correction::none}>;
template struct Single<SinglePolicy{Unit::wmma, Format::tf32, Correction::outside}>;
template struct Single<SinglePolicy{Unit::cuda_cores, Format::fp32, Correction::none}>;
template struct Single<SinglePolicy{Unit::cuda_cores, Format::tf32, Correction::none}>;
template struct Single<SinglePolicy{Unit::cuda_cores, Format::tf32, Correction::outside}>;
template struct Single<SinglePolicy{Unit::cuda_cores, Format::fp16, Correction::none}>;
template struct Single<SinglePolicy{Unit::cuda_cores, Format::fp16, Correction::outside}>;
} // namespace tensormg::gemm

#endif
