#include "kernels/transfer/cuda.cuh"

namespace tensormg::transfer
{
template void prolongate_cuda(const Prolongate<double> &, Stream, double *);
template void restrict_cuda(const Restrict<double> &, Stream, double *);
} // namespace tensormg::transfer
