#include "kernels/laplace/lines_cuda.cuh"
#include "kernels/laplace/lines_launch.cuh"

namespace tensormg::laplace
{
LinesKernel<WideFloat> cuda_lines_wide(int, int degree)
{
  return lines_instance_3d<lines::CudaProduct, Arithmetic::fp64, WideFloat>(degree);
}
} // namespace tensormg::laplace
