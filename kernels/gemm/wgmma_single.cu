// The product of FP32 matrices by FP16 on Hopper's own instructions, with correction: both factors are split in two terms
// in a workspace first, which costs as much as copying them twice and leaves nothing but products to the kernel.
#include "kernels/gemm/device.h"
#include "kernels/gemm/two_terms.h"
#include "kernels/gemm/wgmma_corrected.cuh"
#include "kernels/gemm/wgmma_launch.cuh"

namespace tensormg::gemm
{
namespace
{
  struct Kernels
  {
    static constexpr auto &table = wgmma::corrected_shapes;
    template <std::size_t index>
    static auto kernel()
    {
      return wgmma::corrected_kernel<static_cast<int>(index)>;
    }
  };
  using Corrected = wgmma::Launcher<Kernels>;

  constexpr SinglePolicy by_mma{Unit::mma, Format::fp16, Correction::outside};
} // namespace

template <>
wgmma::Plan wgmma::plan_of<float>(const Size &size)
{
  return Corrected::plan(size);
}

template <>
void wgmma::multiply(const Plan &plan, const Size &size, const float *a, const float *b, float *c,
    float *workspace, float *partial, Stream stream)
{
  if (plan.division.sections() == 0)
    return;
  const TwoTerms terms_a{size.m, size.k, a, reinterpret_cast<Half *>(workspace)};
  const TwoTerms terms_b{size.k, size.n, b, terms_a.to + 2 * terms_a.numbers_of_term()};
  split_in_two_terms(terms_a, terms_b, stream);
  Corrected::multiply(plan,
      {size, terms_a.to, terms_b.to, aligned_columns(size.k), aligned_columns(size.n)}, c, partial,
      stream);
}

/// The sums of parts lie behind the terms, which are whole lines.
template <>
std::int64_t wgmma_workspace<float>(const Size &size)
{
  return size.k == 0 ? 0
                     : wgmma::factor_numbers<float>(size) + Corrected::plan(size).partial_numbers();
}

void single_wgmma(
    const Size &size, const float *a, const float *b, float *c, float *workspace, Stream stream)
{
  if (size.k == 0) // there is nothing to describe
    return Single<by_mma>::multiply(size, a, b, c, nullptr, stream);
  wgmma::multiply(Corrected::plan(size), size, a, b, c, workspace,
      workspace + wgmma::factor_numbers<float>(size), stream);
}
} // namespace tensormg::gemm
