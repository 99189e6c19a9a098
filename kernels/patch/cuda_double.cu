#include "kernels/patch/cuda_lines.cuh"

namespace tensormg::patch
{
template <>
DeviceKernel<double> correct_lines(int dim, int n)
{
  return line_kernel<double>(dim, n);
}
} // namespace tensormg::patch
