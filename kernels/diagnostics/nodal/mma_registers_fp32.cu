#include "kernels/diagnostics/nodal/mma.h"
#include "kernels/diagnostics/nodal/mma_registers.cuh"

namespace tensormg::nodal
{
template <>
Kernel<float> mma_registers(const Variant &variant, int dim, int n)
{
  using namespace tensor;
  switch (variant.arithmetic)
  {
    case Arithmetic::tf32:
      return register_kernel<mma::M16N8K8<Tf32>, 1, float, Sizes::small>(dim, n);
    case Arithmetic::tf32x3:
      return register_kernel<mma::M16N8K8<Tf32>, 2, float, Sizes::small>(dim, n);
    default:
      return register_kernel<mma::M16N8K8<Half>, 2, float, Sizes::small>(dim, n);
  }
}
} // namespace tensormg::nodal
