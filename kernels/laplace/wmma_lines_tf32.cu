#include "kernels/laplace/lines_launch.cuh"
#include "kernels/laplace/lines_wmma.cuh"

namespace tensormg::laplace
{
template <>
LinesKernel<StorageOf<Arithmetic::tf32>> wmma_lines<Arithmetic::tf32>(int dim, int degree)
{
  return lines_instance<lines::WmmaProduct, Arithmetic::tf32>(dim, degree);
}
} // namespace tensormg::laplace
