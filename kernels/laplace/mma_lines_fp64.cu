#include "kernels/laplace/lines_launch.cuh"
#include "kernels/laplace/lines_mma.cuh"

namespace tensormg::laplace
{
template <>
LinesKernel<StorageOf<Arithmetic::fp64>> mma_lines<Arithmetic::fp64>(int dim, int degree)
{
  return lines_instance<lines::MmaProduct, Arithmetic::fp64>(dim, degree);
}
} // namespace tensormg::laplace
