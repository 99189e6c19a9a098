#include "kernels/laplace/lines_launch.cuh"
#include "kernels/laplace/lines_mma.cuh"

namespace tensormg::laplace
{
LinesKernel<WideFloat> mma_lines_wide(int dim, int degree)
{
  return lines_instance<lines::MmaProduct, Arithmetic::fp64, WideFloat>(dim, degree);
}
} // namespace tensormg::laplace
