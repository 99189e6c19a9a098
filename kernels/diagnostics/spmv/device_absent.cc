// What spmv.h declares for a device, in a build without CUDA. With CUDA, cuda.cu and merge.cu take its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/diagnostics/spmv/spmv.h"

namespace tensormg::spmv
{
template <typename Number>
void cuda_vector(const Csr<Number> &, std::int32_t, const Number *, Number *, int, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

std::int64_t merge_blocks(std::int64_t, std::int64_t)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
void find_merge_rows(const Csr<Number> &, std::int32_t, std::int32_t *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
void cuda_merge(const Csr<Number> &, std::int32_t, const std::int32_t *, const Number *,
    Compute<Number> *, Carry<Compute<Number>> *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template void cuda_vector(const Csr<double> &, std::int32_t, const double *, double *, int, Stream);
template void cuda_vector(const Csr<float> &, std::int32_t, const float *, float *, int, Stream);
template void find_merge_rows(const Csr<double> &, std::int32_t, std::int32_t *, Stream);
template void cuda_merge(const Csr<double> &, std::int32_t, const std::int32_t *, const double *,
    double *, Carry<double> *, Stream);
template void find_merge_rows(const Csr<float> &, std::int32_t, std::int32_t *, Stream);
template void cuda_merge(const Csr<float> &, std::int32_t, const std::int32_t *, const float *,
    float *, Carry<float> *, Stream);
template void find_merge_rows(const Csr<Half> &, std::int32_t, std::int32_t *, Stream);
template void cuda_merge(const Csr<Half> &, std::int32_t, const std::int32_t *, const Half *,
    float *, Carry<float> *, Stream);
} // namespace tensormg::spmv

#endif
