#include "kernels/laplace/lines/cuda.cuh"
#include "kernels/laplace/lines/launch.cuh"

namespace tensormg::laplace
{
LinesKernel<double> cuda_lines_double(int, int degree)
{
  return lines_instance_3d<lines::CudaProduct, Arithmetic::fp64, double>(degree);
}
} // namespace tensormg::laplace
