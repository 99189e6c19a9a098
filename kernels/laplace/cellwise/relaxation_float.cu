#include "kernels/laplace/cellwise/cell_inverse.cuh"
#include "kernels/laplace/cellwise/line_inverse.cuh"

namespace tensormg::laplace
{
template void relax_cells_cuda(const CellRelaxation<float> &, Stream);
template void line_inverse_cuda(const LineRelaxation<float> &, Stream);
} // namespace tensormg::laplace
