#include "kernels/diagnostics/nodal/mma.h"
#include "kernels/diagnostics/nodal/mma_staged.cuh"

namespace tensormg::nodal
{
template <>
Kernel<Half> mma_staged(const Variant &, int dim, int n)
{
  using namespace tensor;
  using S = mma::M16N8K16<Half>;
  return n > 16 ? staged_kernel_of<S, 1, Half, Staging::permuted, Sizes::largest>(dim, n)
                : staged_kernel_of<S, 1, Half, Staging::permuted, Sizes::others>(dim, n);
}

template <>
Kernel<Half> mma_staged_compared(const Variant &variant, int dim, int n)
{
  return compared_kernel<mma::M16N8K16<Half>, 1, Half>(variant.staging, dim, n);
}
} // namespace tensormg::nodal
