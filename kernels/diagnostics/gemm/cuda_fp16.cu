// Products of FP16 matrices on CUDA cores.
#include "kernels/diagnostics/gemm/fp16.cuh"

namespace tensormg::gemm
{
template double fp16_shared_bytes<Rung::cuda_cores>(const Size &);
template void fp16<Rung::cuda_cores>(const Size &, const Half *, const Half *, float *, Stream);
} // namespace tensormg::gemm
