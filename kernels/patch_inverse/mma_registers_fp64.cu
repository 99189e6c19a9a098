#include "kernels/patch_inverse/mma.h"
#include "kernels/patch_inverse/mma_registers.cuh"

namespace tensormg::patch_inverse
{
template <>
Kernel<double> mma_registers(tensor::Arithmetic, int dim, int n)
{
  return register_kernel<mma::M8N8K4<double>, 1, double>(dim, n);
}
} // namespace tensormg::patch_inverse
