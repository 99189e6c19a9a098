#include "kernels/laplace/lines_launch.cuh"
#include "kernels/laplace/lines_wmma.cuh"

namespace tensormg::laplace
{
template <>
LinesKernel<StorageOf<Arithmetic::fp16x2>> wmma_lines<Arithmetic::fp16x2>(int dim, int degree)
{
  return lines_instance<lines::WmmaProduct, Arithmetic::fp16x2>(dim, degree);
}
} // namespace tensormg::laplace
