#include "kernels/laplace/lines_launch.cuh"
#include "kernels/laplace/lines_wmma.cuh"

namespace tensormg::laplace
{
template <>
LinesKernel<StorageOf<Arithmetic::fp16>> wmma_lines<Arithmetic::fp16>(int dim, int degree)
{
  return lines_instance<lines::WmmaProduct, Arithmetic::fp16>(dim, degree);
}
} // namespace tensormg::laplace
