#include "kernels/patch_inverse/cuda.h"
#include "kernels/patch_inverse/cuda_lines.cuh"

namespace tensormg::patch_inverse
{
template <>
Kernel<Half> cuda_kernel(int dim, int n)
{
  return line_kernel<Half>(dim, n);
}
} // namespace tensormg::patch_inverse
