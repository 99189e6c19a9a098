// DGEMM: configurations that tensor cores and CUDA cores share.
#pragma once

#include "kernels/gemm/device.h"
#include "kernels/gemm/divided.cuh"
#include "kernels/mma/bank_conflicts.h"

namespace tensormg::gemm
{
/// Four doubles of padding after a row: lanes (g, t) of A[g][t] and B[t][g] meet all banks. With four warps of 64 x 32 sums, a
/// multiprocessor has two blocks: one multiplies while the other waits at its barrier, and a last block alone has all of the unit.
/// Tiles of 64 rows load a third more per product, but where there are few tiles they leave fewer multiprocessors with one more.
/// `copies_first`: copies begin before the fragments are loaded, which takes fewer registers.
template <typename S, int m_, int warps_m_, bool copies_first_ = false>
struct Fp64Config
{
  using Policy = Plain<S>;
  static constexpr int m = m_, n = 64, k = 16;
  static constexpr int warps_m = warps_m_, warps_n = 2;
  static constexpr int stages = 3;
  static constexpr Copies copies = Copies::async;
  static constexpr Fill fill = Fill::numbers;
  static constexpr bool buffered = true;
  static constexpr bool copies_first = copies_first_;
  static constexpr bool batched = false;
  static constexpr int least_blocks =
      2; ///< else sections take registers that cost the second block
  static constexpr double alone =
      m_ == 64 ? 1.5 : 1.1; ///< divided.h; docs/performance/gemm-plans-h100.json
  using LayoutA = mma::RowMajor<k + 4>;
  using LayoutB = mma::RowMajor<n + 4>;
  static_assert(!is_mma<S> ||
      (mma::fragment_wavefronts<S, Operand::a>(LayoutA()).conflicts() == 0 &&
          mma::fragment_wavefronts<S, Operand::b>(LayoutB()).conflicts() == 0));
};

/// The same tiles, stages and copies; a lane has 8 x 8 sums. Two sets of fragments would not fit into registers beside them.
template <int m, int warps_m>
struct Fp64CudaConfig : Fp64Config<CudaVectors<double, double, 2>, m, warps_m>
{
  using S = CudaVectors<double, double, 2>;
  using Base = Fp64Config<S, m, warps_m>;
  static constexpr Fill fill = Fill::vectors;
  static constexpr bool buffered = false;
  static constexpr int steps_at_once = Base::k / S::k;
  static_assert(vector_conflicts<S, typename Base::LayoutA, typename Base::LayoutB>() == 0);
};

template <Fp64Shape shape>
struct Fp64ConfigsOf;
template <>
struct Fp64ConfigsOf<Fp64Shape::m8n8k4>
{
  using Large = Fp64Config<mma::M8N8K4<double>, 128, 4>;
  using Small = Fp64Config<mma::M8N8K4<double>, 64, 2>;
};
template <>
struct Fp64ConfigsOf<Fp64Shape::m16n8k4>
{
  using Large = Fp64Config<mma::M16N8K4<double>, 128, 2>;
  using Small = Fp64Config<mma::M16N8K4<double>, 64, 2>;
};
template <>
struct Fp64ConfigsOf<Fp64Shape::m16n8k8>
{
  using Large = Fp64Config<mma::M16N8K8<double>, 128, 2, true>;
  using Small = Fp64Config<mma::M16N8K8<double>, 64, 2, true>;
};
template <>
struct Fp64ConfigsOf<Fp64Shape::cuda_cores>
{
  using Large = Fp64CudaConfig<128, 2>;
  using Small = Fp64CudaConfig<64, 2>;
};

/// Small tiles if all large ones fit on the device at once.
template <Fp64Shape shape>
bool takes_small(const Size &size)
{
  return waves_of(size, blocking_of<typename Fp64ConfigsOf<shape>::Large>()).waves <= 1;
}

template <typename Config>
Division fp64_division(const Size &size)
{
  return divide_rest(work_of<Config>(size), Config::alone);
}

template <Fp64Shape shape>
std::int64_t fp64_workspace(const Size &size)
{
  using Configs = Fp64ConfigsOf<shape>;
  using Small = typename Configs::Small;
  using Large = typename Configs::Large;
  return takes_small<shape>(size) ? divided_numbers<Small>(fp64_division<Small>(size))
                                  : divided_numbers<Large>(fp64_division<Large>(size));
}

template <Fp64Shape shape>
void fp64(
    const Size &size, const double *a, const double *b, double *c, double *workspace, Stream stream)
{
  const auto by = [&]<typename Config>(Config) {
    run_divided<Config>("launching the FP64 product", size, fp64_division<Config>(size), a, b, c,
        workspace, stream);
  };
  if (takes_small<shape>(size))
    by(typename Fp64ConfigsOf<shape>::Small());
  else
    by(typename Fp64ConfigsOf<shape>::Large());
}

template <Fp64Shape shape>
double fp64_shared_bytes(const Size &size)
{
  return takes_small<shape>(size) ? shared_bytes_of<typename Fp64ConfigsOf<shape>::Small>(size)
                                  : shared_bytes_of<typename Fp64ConfigsOf<shape>::Large>(size);
}
} // namespace tensormg::gemm
