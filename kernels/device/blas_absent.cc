// What blas.h declares, in a build without CUDA. With CUDA, blas.cu takes its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/device/blas.h"

namespace tensormg
{
DeviceBlas::DeviceBlas(Stream) { throw DeviceError("no device: " + why_no_device()); }
DeviceBlas::~DeviceBlas() = default;
void DeviceBlas::multiply(const MatrixProduct &) const
{
  throw DeviceError("no device: " + why_no_device());
}
} // namespace tensormg

#endif
