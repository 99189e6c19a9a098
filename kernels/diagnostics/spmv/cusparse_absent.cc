// What cusparse.h declares, in a build without CUDA. With CUDA, cusparse.cu takes its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/diagnostics/spmv/cusparse.h"

namespace tensormg::spmv
{
template <typename Number>
struct CusparseProduct<Number>::Data
{};

template <typename Number>
CusparseProduct<Number>::CusparseProduct(
    const Csr<Number> &, std::int32_t, const Number *, Compute<Number> *, CusparseAlgorithm)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
CusparseProduct<Number>::CusparseProduct(const Bsr<Number> &, const Number *, Compute<Number> *)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
CusparseProduct<Number>::CusparseProduct(const Sell<Number> &, const Number *, Compute<Number> *)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
CusparseProduct<Number>::~CusparseProduct() = default;

template <typename Number>
void CusparseProduct<Number>::multiply(Stream) const
{
  throw DeviceError("no device: " + why_no_device());
}

template class CusparseProduct<double>;
template class CusparseProduct<float>;
template class CusparseProduct<Half>;
} // namespace tensormg::spmv

#endif
