#include "kernels/diagnostics/nodal/wmma.cuh"
#include "kernels/diagnostics/nodal/wmma.h"

namespace tensormg::nodal
{
namespace
{
  using enum tensor::Arithmetic;

  /// Tiles of 16 or 32 numbers per direction.
  template <typename Number, tensor::Arithmetic arithmetic>
  Kernel<Number> of_sixteens(int dim, int n)
  {
    return n <= 4 ? wmma_kernel_of<Number, arithmetic, 16, 4>(dim)
        : n <= 8  ? wmma_kernel_of<Number, arithmetic, 16, 8>(dim)
        : n <= 16 ? wmma_kernel_of<Number, arithmetic, 16>(dim)
                  : wmma_kernel_of<Number, arithmetic, 32>(dim);
  }
} // namespace

template <>
Kernel<double> wmma_kernel(const Variant &, int dim, int n)
{
  return n <= 4 ? wmma_kernel_of<double, fp64, 8, 4>(dim)
      : n <= 8  ? wmma_kernel_of<double, fp64, 8>(dim)
      : n <= 16 ? wmma_kernel_of<double, fp64, 16>(dim)
                : wmma_kernel_of<double, fp64, 24>(dim);
}

template <>
Kernel<float> wmma_kernel(const Variant &variant, int dim, int n)
{
  return variant.arithmetic == tf32  ? of_sixteens<float, tf32>(dim, n)
      : variant.arithmetic == tf32x3 ? of_sixteens<float, tf32x3>(dim, n)
                                     : of_sixteens<float, fp16x3>(dim, n);
}

template <>
Kernel<Half> wmma_kernel(const Variant &, int dim, int n)
{
  return of_sixteens<Half, fp16>(dim, n);
}
} // namespace tensormg::nodal
