#include "kernels/laplace/lines/launch.cuh"
#include "kernels/laplace/lines/mma.cuh"

namespace tensormg::laplace
{
LinesKernel<double> mma_lines_fp64(int dim, int degree)
{
  return lines_instance<lines::MmaProduct, Arithmetic::fp64>(dim, degree);
}
} // namespace tensormg::laplace
