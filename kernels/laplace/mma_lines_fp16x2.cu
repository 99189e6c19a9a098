#include "kernels/laplace/lines_launch.cuh"
#include "kernels/laplace/lines_mma.cuh"

namespace tensormg::laplace
{
template <>
LinesKernel<StorageOf<Arithmetic::fp16x2>> mma_lines<Arithmetic::fp16x2>(int dim, int degree)
{
  return lines_instance<lines::MmaProduct, Arithmetic::fp16x2>(dim, degree);
}
} // namespace tensormg::laplace
