#include "kernels/laplace/lines/cuda.cuh"
#include "kernels/laplace/lines/launch.cuh"

namespace tensormg::laplace
{
LinesKernel<Half> cuda_lines_half(int, int degree)
{
  return lines_instance_3d<lines::CudaProduct, Arithmetic::fp32, Half>(degree);
}
} // namespace tensormg::laplace
