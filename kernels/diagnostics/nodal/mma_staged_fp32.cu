#include "kernels/diagnostics/nodal/mma.h"
#include "kernels/diagnostics/nodal/mma_staged.cuh"

namespace tensormg::nodal
{
namespace
{
  template <typename S, int terms>
  Kernel<float> permuted(int dim, int n)
  {
    using namespace tensor;
    return n > 16 ? staged_kernel_of<S, terms, float, Staging::permuted, Sizes::largest>(dim, n)
                  : staged_kernel_of<S, terms, float, Staging::permuted, Sizes::others>(dim, n);
  }
} // namespace

template <>
Kernel<float> mma_staged(const Variant &variant, int dim, int n)
{
  using tensor::Arithmetic;
  switch (variant.arithmetic)
  {
    case Arithmetic::tf32:
      return permuted<mma::M16N8K8<Tf32>, 1>(dim, n);
    case Arithmetic::tf32x3:
      return permuted<mma::M16N8K8<Tf32>, 2>(dim, n);
    default:
      return permuted<mma::M16N8K16<Half>, 2>(dim, n);
  }
}

template <>
Kernel<float> mma_staged_compared(const Variant &variant, int dim, int n)
{
  using tensor::Arithmetic;
  switch (variant.arithmetic)
  {
    case Arithmetic::tf32:
      return compared_kernel<mma::M16N8K8<Tf32>, 1, float>(variant.staging, dim, n);
    case Arithmetic::tf32x3:
      return compared_kernel<mma::M16N8K8<Tf32>, 2, float>(variant.staging, dim, n);
    default:
      return compared_kernel<mma::M16N8K16<Half>, 2, float>(variant.staging, dim, n);
  }
}
} // namespace tensormg::nodal
