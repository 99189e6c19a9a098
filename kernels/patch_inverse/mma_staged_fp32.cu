#include "kernels/patch_inverse/mma.h"
#include "kernels/patch_inverse/mma_staged.cuh"

namespace tensormg::patch_inverse
{
template <>
Kernel<float> mma_staged(tensor::Arithmetic arithmetic, int dim, int n)
{
  switch (arithmetic)
  {
    case tensor::Arithmetic::tf32:
      return staged_kernel_of<mma::M16N8K8<Tf32>, 1, float>(dim, n);
    case tensor::Arithmetic::tf32x3:
      return staged_kernel_of<mma::M16N8K8<Tf32>, 2, float>(dim, n);
    default:
      return staged_kernel_of<mma::M16N8K16<Half>, 2, float>(dim, n);
  }
}
} // namespace tensormg::patch_inverse
