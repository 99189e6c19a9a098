#include "kernels/laplace/lines/launch.cuh"
#include "kernels/laplace/lines/wmma.cuh"

namespace tensormg::laplace
{
LinesKernel<double> wmma_lines_fp64(int dim, int degree)
{
  return lines_instance<lines::WmmaProduct, Arithmetic::fp64>(dim, degree);
}
} // namespace tensormg::laplace
