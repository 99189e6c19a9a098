#include "kernels/diagnostics/stencil/warps/steps.cuh"

namespace tensormg::stencil
{
template void cuda_warps_steps(const Stencil &, const Grid &, int, const float *, float *, Stream);
template double warps_steps_updates<float>(const Stencil &, const Grid &, int);
} // namespace tensormg::stencil
