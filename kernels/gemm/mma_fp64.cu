#include "kernels/gemm/device.h"
#include "kernels/gemm/divided.cuh"
#include "kernels/mma/bank_conflicts.h"

namespace tensormg::gemm
{
namespace
{
  /// Four doubles of padding after a row: lanes (g, t) of A[g][t] and B[t][g] meet all banks. With four warps of 64 x 32 sums, a
  /// multiprocessor has two blocks: one multiplies while the other waits at its barrier, and a last block alone has all of the unit.
  /// `copies_first`: copies begin before the fragments are loaded, which takes fewer registers.
  template <typename S, int warps_m_, bool copies_first_ = false>
  struct Config
  {
    using Policy = Plain<S>;
    static constexpr int m = 128, n = 64, k = 16;
    static constexpr int warps_m = warps_m_, warps_n = 2;
    static constexpr int stages = 3;
    static constexpr Copies copies = Copies::async;
    static constexpr Fill fill = Fill::numbers;
    static constexpr bool buffered = true;
    static constexpr bool copies_first = copies_first_;
    static constexpr bool batched = false;
    using LayoutA = mma::RowMajor<k + 4>;
    using LayoutB = mma::RowMajor<n + 4>;
    static_assert(mma::fragment_wavefronts<S, Operand::a>(LayoutA()).conflicts() == 0);
    static_assert(mma::fragment_wavefronts<S, Operand::b>(LayoutB()).conflicts() == 0);
  };

  template <Fp64Shape shape>
  struct ConfigOf;
  template <>
  struct ConfigOf<Fp64Shape::m8n8k4>
  {
    using type = Config<mma::M8N8K4<double>, 4>;
  };
  template <>
  struct ConfigOf<Fp64Shape::m16n8k4>
  {
    using type = Config<mma::M16N8K4<double>, 2>;
  };
  template <>
  struct ConfigOf<Fp64Shape::m16n8k8>
  {
    using type = Config<mma::M16N8K8<double>, 2, true>;
  };
} // namespace

template <Fp64Shape shape>
std::int64_t fp64_workspace(const Size &size)
{
  return divided_numbers<typename ConfigOf<shape>::type>(size);
}
template std::int64_t fp64_workspace<Fp64Shape::m8n8k4>(const Size &);
template std::int64_t fp64_workspace<Fp64Shape::m16n8k4>(const Size &);
template std::int64_t fp64_workspace<Fp64Shape::m16n8k8>(const Size &);

template <Fp64Shape shape>
void fp64(
    const Size &size, const double *a, const double *b, double *c, double *workspace, Stream stream)
{
  run_divided<typename ConfigOf<shape>::type>(
      "launching the FP64 product", size, a, b, c, workspace, stream);
}

template <Fp64Shape shape>
double fp64_shared_bytes(const Size &size)
{
  return shared_bytes_of<typename ConfigOf<shape>::type>(size);
}
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
