#include "kernels/laplace/lines_launch.cuh"
#include "kernels/laplace/lines_mma.cuh"

namespace tensormg::laplace
{
LinesKernel<float> mma_lines_fp16x3(int dim, int degree)
{
  return lines_instance<lines::MmaProduct, Arithmetic::fp16x3>(dim, degree);
}
} // namespace tensormg::laplace
