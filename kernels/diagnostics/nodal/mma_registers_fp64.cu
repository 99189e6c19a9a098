#include "kernels/diagnostics/nodal/mma.h"
#include "kernels/diagnostics/nodal/mma_registers.cuh"

namespace tensormg::nodal
{
template <>
Kernel<double> mma_registers(const Variant &variant, int dim, int n)
{
  using namespace tensor;
  switch (variant.instruction)
  {
    case Instruction::m8n8k4:
      return register_kernel<mma::M8N8K4<double>, 1, double, Sizes::small>(dim, n);
    case Instruction::m16n8k4:
      return register_kernel<mma::M16N8K4<double>, 1, double, Sizes::eight>(dim, n);
    default:
      return register_kernel<mma::M16N8K8<double>, 1, double, Sizes::small>(dim, n);
  }
}
} // namespace tensormg::nodal
