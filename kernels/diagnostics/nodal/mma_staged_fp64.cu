#include "kernels/diagnostics/nodal/mma.h"
#include "kernels/diagnostics/nodal/mma_staged.cuh"

namespace tensormg::nodal
{
template <>
Kernel<double> mma_staged(const Variant &variant, int dim, int n)
{
  using namespace tensor;
  // N = 18 permuted would fill the shared memory of a multiprocessor with one block.
  if (n > 16)
    return variant.instruction == Instruction::m8n8k4
        ? staged_kernel_of<mma::M8N8K4<double>, 1, double, Staging::plain, Sizes::largest>(dim, n)
        : staged_kernel_of<mma::M16N8K4<double>, 1, double, Staging::plain, Sizes::largest>(dim, n);
  return variant.instruction == Instruction::m8n8k4
      ? staged_kernel_of<mma::M8N8K4<double>, 1, double, Staging::permuted, Sizes::others>(dim, n)
      : staged_kernel_of<mma::M16N8K4<double>, 1, double, Staging::permuted, Sizes::others>(dim, n);
}
} // namespace tensormg::nodal
