#include "kernels/laplace/lines_launch.cuh"
#include "kernels/laplace/lines_wmma.cuh"

namespace tensormg::laplace
{
template <>
LinesKernel<StorageOf<Arithmetic::fp64>> wmma_lines<Arithmetic::fp64>(int dim, int degree)
{
  return lines_instance<lines::WmmaProduct, Arithmetic::fp64>(dim, degree);
}
} // namespace tensormg::laplace
