#include "kernels/laplace/lines/launch.cuh"
#include "kernels/laplace/lines/mma.cuh"

namespace tensormg::laplace
{
LinesKernel<float> mma_lines_fp16x3(int dim, int degree)
{
  return lines_instance<lines::MmaProduct, Arithmetic::fp16x3>(dim, degree);
}
} // namespace tensormg::laplace
