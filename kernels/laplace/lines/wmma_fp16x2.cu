#include "kernels/laplace/lines/launch.cuh"
#include "kernels/laplace/lines/wmma.cuh"

namespace tensormg::laplace
{
LinesKernel<Half> wmma_lines_fp16x2(int dim, int degree)
{
  return lines_instance<lines::WmmaProduct, Arithmetic::fp16x2>(dim, degree);
}
} // namespace tensormg::laplace
