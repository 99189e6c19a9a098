#include "kernels/nodal/wmma.cuh"
#include "kernels/nodal/wmma.h"

namespace tensormg::nodal
{
template <>
Kernel<double> wmma_kernel(int dim, int n)
{
  return n <= 8 ? wmma_kernel_of<double, 8>(dim)
      : n <= 16 ? wmma_kernel_of<double, 16>(dim)
                : wmma_kernel_of<double, 24>(dim);
}

template <>
Kernel<float> wmma_kernel(int dim, int n)
{
  return n <= 16 ? wmma_kernel_of<float, 16>(dim) : wmma_kernel_of<float, 32>(dim);
}

template <>
Kernel<Half> wmma_kernel(int dim, int n)
{
  return n <= 16 ? wmma_kernel_of<Half, 16>(dim) : wmma_kernel_of<Half, 32>(dim);
}
} // namespace tensormg::nodal
