#include "kernels/nodal/mma.h"
#include "kernels/nodal/mma_registers.cuh"

namespace tensormg::nodal
{
template <>
Kernel<Half> mma_registers(const Variant &, int dim, int n)
{
  return register_kernel<mma::M16N8K8<Half>, 1, Half, tensor::Sizes::small>(dim, n);
}
} // namespace tensormg::nodal
