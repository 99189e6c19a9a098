#include "kernels/transfer/cuda.cuh"

namespace tensormg::transfer
{
template void prolongate_cuda(const Prolongate<Half> &, Stream, float *);
template void restrict_cuda(const Restrict<Half> &, Stream, float *);
} // namespace tensormg::transfer
