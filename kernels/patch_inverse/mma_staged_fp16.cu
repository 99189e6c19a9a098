#include "kernels/patch_inverse/mma.h"
#include "kernels/patch_inverse/mma_staged.cuh"

namespace tensormg::patch_inverse
{
template <>
Kernel<Half> mma_staged(tensor::Arithmetic, int dim, int n)
{
  return staged_kernel_of<mma::M16N8K16<Half>, 1, Half>(dim, n);
}
} // namespace tensormg::patch_inverse
