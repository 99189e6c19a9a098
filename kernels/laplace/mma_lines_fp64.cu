#include "kernels/laplace/lines_launch.cuh"
#include "kernels/laplace/lines_mma.cuh"

namespace tensormg::laplace
{
LinesKernel<double> mma_lines_fp64(int dim, int degree)
{
  return lines_instance<lines::MmaProduct, Arithmetic::fp64>(dim, degree);
}
} // namespace tensormg::laplace
