// The ladder of FP16 products on mma.sync.
#include "kernels/diagnostics/gemm/fp16.cuh"

namespace tensormg::gemm
{
namespace
{
  template <typename Config>
  consteval bool has_no_conflicts()
  {
    using S = typename Config::Policy::S;
    return mma::ldmatrix_wavefronts<S, Operand::a>(
               typename Config::LayoutA(), mma::LdmatrixForm::plain)
               .conflicts() == 0 &&
        mma::ldmatrix_wavefronts<S, Operand::b>(
            typename Config::LayoutB(), mma::LdmatrixForm::transposed)
            .conflicts() == 0;
  }
  static_assert(has_no_conflicts<PermutedTiles>() && has_no_conflicts<Larger>());
} // namespace

template Blocking fp16_blocking<Rung::larger>();
template double fp16_shared_bytes<Rung::naive>(const Size &);
template double fp16_shared_bytes<Rung::more_tiles>(const Size &);
template double fp16_shared_bytes<Rung::permuted>(const Size &);
template double fp16_shared_bytes<Rung::buffered>(const Size &);
template double fp16_shared_bytes<Rung::staged>(const Size &);
template double fp16_shared_bytes<Rung::larger>(const Size &);
template void fp16<Rung::naive>(const Size &, const Half *, const Half *, float *, Stream);
template void fp16<Rung::more_tiles>(const Size &, const Half *, const Half *, float *, Stream);
template void fp16<Rung::permuted>(const Size &, const Half *, const Half *, float *, Stream);
template void fp16<Rung::buffered>(const Size &, const Half *, const Half *, float *, Stream);
template void fp16<Rung::staged>(const Size &, const Half *, const Half *, float *, Stream);
template void fp16<Rung::larger>(const Size &, const Half *, const Half *, float *, Stream);
} // namespace tensormg::gemm
