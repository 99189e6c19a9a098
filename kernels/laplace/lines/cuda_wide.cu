#include "kernels/laplace/lines/cuda.cuh"
#include "kernels/laplace/lines/launch.cuh"

namespace tensormg::laplace
{
LinesKernel<WideFloat> cuda_lines_wide(int, int degree)
{
  return lines_instance_3d<lines::CudaProduct, Arithmetic::fp64, WideFloat>(degree);
}
} // namespace tensormg::laplace
