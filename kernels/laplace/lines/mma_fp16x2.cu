#include "kernels/laplace/lines/launch.cuh"
#include "kernels/laplace/lines/mma.cuh"

namespace tensormg::laplace
{
LinesKernel<Half> mma_lines_fp16x2(int dim, int degree)
{
  return lines_instance<lines::MmaProduct, Arithmetic::fp16x2>(dim, degree);
}
} // namespace tensormg::laplace
