#include "kernels/diagnostics/nodal/cuda_kernel.cuh"

namespace tensormg::nodal
{
template Kernel<double> cuda_kernel<double>(int, int);
} // namespace tensormg::nodal
