// DGEMM on CUDA cores.
#include "kernels/diagnostics/gemm/fp64.cuh"

namespace tensormg::gemm
{
template std::int64_t fp64_workspace<Fp64Shape::cuda_cores>(const Size &);
template double fp64_shared_bytes<Fp64Shape::cuda_cores>(const Size &);
template void fp64<Fp64Shape::cuda_cores>(
    const Size &, const double *, const double *, double *, double *, Stream);
} // namespace tensormg::gemm
