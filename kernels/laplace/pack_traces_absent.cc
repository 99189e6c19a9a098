// The packing of traces on a device, in a build without CUDA. With CUDA, cuda.cu has it.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/device/device.h"
#include "kernels/laplace/cuda.h"

namespace tensormg::laplace
{
template <typename Number>
void pack_traces_cuda(
    const Block &, const CellBasis &, int, const Number *, Compute<Number> *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template void pack_traces_cuda(
    const Block &, const CellBasis &, int, const double *, double *, Stream);
template void pack_traces_cuda(
    const Block &, const CellBasis &, int, const float *, float *, Stream);
template void pack_traces_cuda(
    const Block &, const CellBasis &, int, const Half *, float *, Stream);
template void pack_traces_cuda(
    const Block &, const CellBasis &, int, const WideFloat *, double *, Stream);
} // namespace tensormg::laplace

#endif
