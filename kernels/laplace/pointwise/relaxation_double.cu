#include "kernels/laplace/pointwise/separable_inverse.cuh"
#include "kernels/laplace/pointwise/separable_lines.cuh"

namespace tensormg::laplace
{
template void apply_separable_inverse_cuda(const Block &, const Compute<double> *, double,
    const double *, const double *, double *, Stream);
template void solve_separable_lines_cuda(const SeparableLines<double> &, Stream);
template void sum_lines_cuda(const Block &, const double *, double *, Stream);
} // namespace tensormg::laplace
