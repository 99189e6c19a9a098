#include "kernels/laplace/pointwise/separable_inverse.cuh"
#include "kernels/laplace/pointwise/separable_lines.cuh"

namespace tensormg::laplace
{
template void apply_separable_inverse_cuda(
    const Block &, const Compute<Half> *, double, const Half *, const Half *, Half *, Stream);
template void solve_separable_lines_cuda(const SeparableLines<Half> &, Stream);
template void sum_lines_cuda(const Block &, const Half *, Half *, Stream);
} // namespace tensormg::laplace
