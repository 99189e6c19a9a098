#include "kernels/diagnostics/nodal/mma.h"
#include "kernels/diagnostics/nodal/mma_pairs.cuh"

namespace tensormg::nodal
{
template <>
Kernel<Half> mma_registers(const Variant &, int dim, int n)
{
  if (dim == 3 && n == 8)
    return {&apply_pairs, &PairTables::pack, &pair_resources};
  return register_kernel<mma::M16N8K8<Half>, 1, Half, tensor::Sizes::small>(dim, n);
}
} // namespace tensormg::nodal
