#include "kernels/transfer/cuda.cuh"

namespace tensormg::transfer
{
template void prolongate_cuda(const Prolongate<double> &, Stream);
template void restrict_cuda(const Restrict<double> &, Stream);
} // namespace tensormg::transfer
