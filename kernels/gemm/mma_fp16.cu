#include "kernels/gemm/device.h"
#include "kernels/gemm/kernel.cuh"
#include "kernels/mma/bank_conflicts.h"

namespace tensormg::gemm
{
namespace
{
  using mma::Permuted;
  using mma::RowMajor;
  using mma::Swizzle;

  /// What all rungs share, and what the first has: each further one names what it changes.
  struct Naive
  {
    using Policy = Plain<mma::M16N8K16<Half>>;
    static constexpr int m = 32, n = 32, k = 16;
    static constexpr int warps_m = 2, warps_n = 4;
    static constexpr int stages = 1;
    static constexpr Copies copies = Copies::numbers;
    static constexpr Fill fill = Fill::numbers;
    static constexpr bool buffered = false;
    static constexpr bool copies_first = false;
    static constexpr bool batched = false;
    using LayoutA = RowMajor<k>;
    using LayoutB = RowMajor<n>;
  };

  struct MoreTiles : Naive
  {
    static constexpr int m = 64, n = 64;
    using LayoutB = RowMajor<n>;
  };

  /// Units of 16 bytes trade places: rows of A have 2 of them (32 bytes), rows of B 8.
  struct PermutedTiles : MoreTiles
  {
    static constexpr Copies copies = Copies::words;
    static constexpr Fill fill = Fill::ldmatrix;
    static constexpr int k = 32;
    using LayoutA = Permuted<RowMajor<k>, mma::Swizzle64B, 2>;
    using LayoutB = Permuted<RowMajor<n>, mma::Swizzle128B, 2>;
  };

  struct Buffered : PermutedTiles
  {
    static constexpr bool buffered = true;
  };

  struct Staged : Buffered
  {
    static constexpr int stages = 3;
    static constexpr Copies copies = Copies::async;
  };

  /// A warp has 64 x 64 sums: 8 KiB from shared memory for 64 products, where 64 x 32 would take 12. Rows of B have 256
  /// bytes: their number changes units of 16 bytes within halves of a row.
  struct Larger : Staged
  {
    static constexpr int m = 256, n = 128, k = 64;
    static constexpr int warps_m = 4, warps_n = 2;
    static constexpr int stages = 4;
    using LayoutA = Permuted<RowMajor<k>, mma::Swizzle128B, 2>;
    using LayoutB = Permuted<RowMajor<n>, Swizzle<3, 4, 4>, 2>;
  };

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

  template <Rung rung>
  struct ConfigOf;
  template <>
  struct ConfigOf<Rung::naive>
  {
    using type = Naive;
  };
  template <>
  struct ConfigOf<Rung::more_tiles>
  {
    using type = MoreTiles;
  };
  template <>
  struct ConfigOf<Rung::permuted>
  {
    using type = PermutedTiles;
  };
  template <>
  struct ConfigOf<Rung::buffered>
  {
    using type = Buffered;
  };
  template <>
  struct ConfigOf<Rung::staged>
  {
    using type = Staged;
  };
  template <>
  struct ConfigOf<Rung::larger>
  {
    using type = Larger;
  };
} // namespace

template <Rung rung>
void fp16(const Size &size, const Half *a, const Half *b, float *c, Stream stream)
{
  run<typename ConfigOf<rung>::type>("launching the FP16 product", size, a, b, c, stream);
}

template <Rung rung>
Blocking fp16_blocking()
{
  return blocking_of<typename ConfigOf<rung>::type>();
}
template Blocking fp16_blocking<Rung::larger>();

template <Rung rung>
double fp16_shared_bytes(const Size &size)
{
  return shared_bytes_of<typename ConfigOf<rung>::type>(size);
}
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
