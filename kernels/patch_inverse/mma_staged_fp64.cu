#include "kernels/patch_inverse/mma.h"
#include "kernels/patch_inverse/mma_staged.cuh"

namespace tensormg::patch_inverse
{
template <>
Kernel<double> mma_staged(tensor::Arithmetic, int dim, int n)
{
  return staged_kernel_of<mma::M16N8K4<double>, 1, double>(dim, n);
}

Kernel<double> mma_staged_m8n8k4(tensor::Arithmetic, int dim, int n)
{
  return staged_kernel_of<mma::M8N8K4<double>, 1, double>(dim, n);
}
} // namespace tensormg::patch_inverse
