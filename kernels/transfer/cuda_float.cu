#include "kernels/transfer/cuda.cuh"

namespace tensormg::transfer
{
template void prolongate_cuda(const Prolongate<float> &, Stream, float *);
template void restrict_cuda(const Restrict<float> &, Stream, float *);
} // namespace tensormg::transfer
