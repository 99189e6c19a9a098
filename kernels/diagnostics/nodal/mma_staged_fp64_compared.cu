#include "kernels/diagnostics/nodal/mma.h"
#include "kernels/diagnostics/nodal/mma_staged.cuh"

namespace tensormg::nodal
{
template <>
Kernel<double> mma_staged_compared(const Variant &variant, int dim, int n)
{
  switch (variant.instruction)
  {
    case Instruction::m8n8k4:
      return compared_kernel<mma::M8N8K4<double>, 1, double>(variant.staging, dim, n);
    case Instruction::m16n8k4:
      return compared_kernel<mma::M16N8K4<double>, 1, double>(variant.staging, dim, n);
    case Instruction::m16n8k8:
      return compared_kernel<mma::M16N8K8<double>, 1, double>(variant.staging, dim, n);
    default:
      return compared_kernel<mma::M16N8K16<double>, 1, double>(variant.staging, dim, n);
  }
}
} // namespace tensormg::nodal
