#include "kernels/laplace/lines_launch.cuh"
#include "kernels/laplace/lines_mma.cuh"

namespace tensormg::laplace
{
template <>
LinesKernel<StorageOf<Arithmetic::tf32>> mma_lines<Arithmetic::tf32>(int dim, int degree)
{
  return lines_instance<lines::MmaProduct, Arithmetic::tf32>(dim, degree);
}
} // namespace tensormg::laplace
