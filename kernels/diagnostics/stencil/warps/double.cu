#include "kernels/diagnostics/stencil/warps/warps.cuh"

namespace tensormg::stencil
{
template void cuda_warps(const Stencil &, const Grid &, const double *, double *, Stream);
template double warps_updates<double>(const Stencil &, const Grid &);
} // namespace tensormg::stencil
