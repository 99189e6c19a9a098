// DGEMM on mma.sync.
#include "kernels/diagnostics/gemm/fp64.cuh"

namespace tensormg::gemm
{
template std::int64_t fp64_workspace<Fp64Shape::m8n8k4>(const Size &);
template std::int64_t fp64_workspace<Fp64Shape::m16n8k4>(const Size &);
template std::int64_t fp64_workspace<Fp64Shape::m16n8k8>(const Size &);
template double fp64_shared_bytes<Fp64Shape::m8n8k4>(const Size &);
template double fp64_shared_bytes<Fp64Shape::m16n8k4>(const Size &);
template double fp64_shared_bytes<Fp64Shape::m16n8k8>(const Size &);
template void fp64<Fp64Shape::m8n8k4>(
    const Size &, const double *, const double *, double *, double *, Stream);
template void fp64<Fp64Shape::m16n8k4>(
    const Size &, const double *, const double *, double *, double *, Stream);
template void fp64<Fp64Shape::m16n8k8>(
    const Size &, const double *, const double *, double *, double *, Stream);
} // namespace tensormg::gemm
