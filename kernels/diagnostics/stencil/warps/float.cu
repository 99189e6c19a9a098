#include "kernels/diagnostics/stencil/warps/warps.cuh"

namespace tensormg::stencil
{
template void cuda_warps(const Stencil &, const Grid &, const float *, float *, Stream);
template double warps_updates<float>(const Stencil &, const Grid &);
} // namespace tensormg::stencil
