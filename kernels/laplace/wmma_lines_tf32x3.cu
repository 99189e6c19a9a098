#include "kernels/laplace/lines_launch.cuh"
#include "kernels/laplace/lines_wmma.cuh"

namespace tensormg::laplace
{
template <>
LinesKernel<StorageOf<Arithmetic::tf32x3>> wmma_lines<Arithmetic::tf32x3>(int dim, int degree)
{
  return lines_instance<lines::WmmaProduct, Arithmetic::tf32x3>(dim, degree);
}
} // namespace tensormg::laplace
