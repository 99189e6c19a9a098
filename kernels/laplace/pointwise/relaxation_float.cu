#include "kernels/laplace/pointwise/separable_inverse.cuh"
#include "kernels/laplace/pointwise/separable_lines.cuh"

namespace tensormg::laplace
{
template void apply_separable_inverse_cuda(
    const Block &, const Compute<float> *, double, const float *, const float *, float *, Stream);
template void solve_separable_lines_cuda(const SeparableLines<float> &, Stream);
template void sum_lines_cuda(const Block &, const float *, float *, Stream);
} // namespace tensormg::laplace
