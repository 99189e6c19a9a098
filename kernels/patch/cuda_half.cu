#include "kernels/patch/cuda_lines.cuh"

namespace tensormg::patch
{
template <>
DeviceKernel<Half> correct_lines(int dim, int n)
{
  return line_kernel<Half>(dim, n);
}
} // namespace tensormg::patch
