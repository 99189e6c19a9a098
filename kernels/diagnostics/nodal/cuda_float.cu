#include "kernels/diagnostics/nodal/cuda_kernel.cuh"

namespace tensormg::nodal
{
template Kernel<float> cuda_kernel<float>(int, int);
} // namespace tensormg::nodal
