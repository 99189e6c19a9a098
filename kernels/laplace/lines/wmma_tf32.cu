#include "kernels/laplace/lines/launch.cuh"
#include "kernels/laplace/lines/wmma.cuh"

namespace tensormg::laplace
{
LinesKernel<float> wmma_lines_tf32(int dim, int degree)
{
  return lines_instance<lines::WmmaProduct, Arithmetic::tf32>(dim, degree);
}
} // namespace tensormg::laplace
