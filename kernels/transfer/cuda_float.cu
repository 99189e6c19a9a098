#include "kernels/transfer/cuda.cuh"

namespace tensormg::transfer
{
template void prolongate_cuda(const Prolongate<float> &, Stream);
template void restrict_cuda(const Restrict<float> &, Stream);
} // namespace tensormg::transfer
