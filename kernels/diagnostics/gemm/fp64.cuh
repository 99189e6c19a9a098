// DGEMM: configurations that tensor cores and CUDA cores share.
#pragma once

#include "kernels/diagnostics/gemm/device.h"
#include "kernels/diagnostics/gemm/divided.cuh"
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
  // Else sections take registers that cost the second block.
  static constexpr int least_blocks = 2;
  // Of m16n8k4 and m16n8k8, on an H200 at revision 2675e2d. The others have the same plans: twins differ in nothing else.
  static constexpr Costs costs =
      m_ == 64 ? Costs{0.316, 1.06, 1.35, 0.7} : Costs{0.606, 1.05, 1.05, 1.4};
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

/// How a product is computed.
struct Fp64Plan
{
  bool is_small; ///< small tiles
  StreamK product;
};

/// Small tiles only if all large ones fit on the device at once.
template <Fp64Shape shape>
Fp64Plan fp64_plan(const Size &size)
{
  using Small = typename Fp64ConfigsOf<shape>::Small;
  using Large = typename Fp64ConfigsOf<shape>::Large;
  const Work large = work_of<Large>(size);
  const StreamK by_large = divide_rest(large, Large::costs);
  if (waves_of(size, large.blocking).waves > 1)
    return {false, by_large};
  const Work small = work_of<Small>(size);
  const StreamK by_small = divide_rest(small, Small::costs);
  return time_of(by_large, large, Large::costs) < time_of(by_small, small, Small::costs)
      ? Fp64Plan{false, by_large}
      : Fp64Plan{true, by_small};
}

template <Fp64Shape shape>
std::int64_t fp64_workspace(const Size &size)
{
  using Configs = Fp64ConfigsOf<shape>;
  const Fp64Plan plan = fp64_plan<shape>(size);
  return plan.is_small ? divided_numbers<typename Configs::Small>(plan.product)
                       : divided_numbers<typename Configs::Large>(plan.product);
}

template <Fp64Shape shape>
void fp64(
    const Size &size, const double *a, const double *b, double *c, double *workspace, Stream stream)
{
  const Fp64Plan plan = fp64_plan<shape>(size);
  const auto by = [&]<typename Config>(Config) {
    run_divided<Config>(
        "launching the FP64 product", size, plan.product, a, b, c, workspace, stream);
  };
  if (plan.is_small)
    by(typename Fp64ConfigsOf<shape>::Small());
  else
    by(typename Fp64ConfigsOf<shape>::Large());
}

template <Fp64Shape shape>
double fp64_shared_bytes(const Size &size)
{
  return fp64_plan<shape>(size).is_small
      ? shared_bytes_of<typename Fp64ConfigsOf<shape>::Small>(size)
      : shared_bytes_of<typename Fp64ConfigsOf<shape>::Large>(size);
}
} // namespace tensormg::gemm
