// The device functions, in a build without CUDA. With CUDA, cuda.cu takes its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/fast_diagonalisation/fast_diagonalisation.h"

namespace tensormg::fast_diagonalisation
{
template <typename Number>
void solve_cuda(const Arguments<Number> &)
{
  throw DeviceError("no device: " + why_no_device());
}

void divide_cuda(
    const std::array<std::int64_t, 3> &, const std::array<const double *, 3> &, double *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template void solve_cuda(const Arguments<double> &);
template void solve_cuda(const Arguments<float> &);
template void solve_cuda(const Arguments<Half> &);
} // namespace tensormg::fast_diagonalisation

#endif
