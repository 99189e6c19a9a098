#include "kernels/diagnostics/nodal/cuda_kernel.cuh"

namespace tensormg::nodal
{
template Kernel<Half> cuda_kernel<Half>(int, int);
} // namespace tensormg::nodal
