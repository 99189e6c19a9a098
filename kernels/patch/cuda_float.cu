#include "kernels/patch/cuda_lines.cuh"

namespace tensormg::patch
{
template <>
DeviceKernel<float> correct_lines(int dim, int n)
{
  return line_kernel<float>(dim, n);
}
} // namespace tensormg::patch
