#include "kernels/patch_inverse/mma.h"
#include "kernels/patch_inverse/mma_registers.cuh"

namespace tensormg::patch_inverse
{
template <>
Kernel<Half> mma_registers(tensor::Arithmetic, int dim, int n)
{
  return register_kernel<mma::M16N8K8<Half>, 1, Half>(dim, n);
}
} // namespace tensormg::patch_inverse
