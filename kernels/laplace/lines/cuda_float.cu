#include "kernels/laplace/lines/cuda.cuh"
#include "kernels/laplace/lines/launch.cuh"

namespace tensormg::laplace
{
LinesKernel<float> cuda_lines_float(int, int degree)
{
  return lines_instance_3d<lines::CudaProduct, Arithmetic::fp32, float>(degree);
}
} // namespace tensormg::laplace
