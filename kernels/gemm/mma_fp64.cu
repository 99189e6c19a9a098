#include "kernels/gemm/device.h"
#include "kernels/gemm/kernel.cuh"
#include "kernels/mma/bank_conflicts.h"

namespace tensormg::gemm
{
namespace
{
  /// Four doubles of padding after a row: lanes (g, t) of A[g][t] and B[t][g] meet all banks.
  template <typename S, int n_, int warps_n_>
  struct Config
  {
    using Policy = Plain<S>;
    static constexpr int m = 128, n = n_, k = 16;
    static constexpr int warps_m = 4, warps_n = warps_n_;
    static constexpr int stages = 3;
    static constexpr Copies copies = Copies::async;
    static constexpr Fill fill = Fill::numbers;
    static constexpr bool buffered = true;
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
    using type = Config<mma::M8N8K4<double>, 64, 2>;
  };
  template <>
  struct ConfigOf<Fp64Shape::m16n8k4>
  {
    using type = Config<mma::M16N8K4<double>, 128, 2>;
  };
  template <>
  struct ConfigOf<Fp64Shape::m16n8k8>
  {
    using type = Config<mma::M16N8K8<double>, 64, 2>;
  };
} // namespace

template <Fp64Shape shape>
void fp64(const Size &size, const double *a, const double *b, double *c, Stream stream)
{
  run<typename ConfigOf<shape>::type>("launching the FP64 product", size, a, b, c, stream);
}

template void fp64<Fp64Shape::m8n8k4>(
    const Size &, const double *, const double *, double *, Stream);
template void fp64<Fp64Shape::m16n8k4>(
    const Size &, const double *, const double *, double *, Stream);
template void fp64<Fp64Shape::m16n8k8>(
    const Size &, const double *, const double *, double *, Stream);
} // namespace tensormg::gemm
