// The product of FP32 matrices by FP16 on Hopper's own instructions, with correction. Both factors are split in two terms in a
// workspace first, which costs as much as copying them twice and leaves nothing but products to the kernel; or by the kernel,
// where that takes less time.
#include "kernels/diagnostics/gemm/device.h"
#include "kernels/diagnostics/gemm/two_terms.h"
#include "kernels/diagnostics/gemm/wgmma/corrected.cuh"
#include "kernels/diagnostics/gemm/wgmma/launch.cuh"
#include "kernels/diagnostics/gemm/wgmma/split.cuh"

namespace tensormg::gemm
{
namespace
{
  struct CorrectedKernels : wgmma::HalfFactors
  {
    static constexpr auto &table = wgmma::corrected_shapes;
    template <std::size_t index>
    static auto kernel()
    {
      return wgmma::corrected_kernel<static_cast<int>(index)>;
    }
  };
  using Corrected = wgmma::Launcher<CorrectedKernels>;

  /// Factors where they are, with packed rows.
  struct SingleProduct
  {
    Size size;
    const float *a, *b;
  };

  struct SplitKernels
  {
    static constexpr auto &table = wgmma::split_shapes;
    using Product = SingleProduct;
    template <wgmma::Shape shape>
    using Layout = wgmma::SplitParts<shape>;

    template <std::size_t index>
    static auto kernel()
    {
      return wgmma::split_product_kernel<static_cast<int>(index)>;
    }
    template <wgmma::Shape shape>
    static CUtensorMap map_a(const SingleProduct &product)
    {
      using P = Layout<shape>;
      return make_box_map(packed(product.size.m, product.size.k), product.a, P::step_k, P::tile_m,
          BoxLayout::swizzled_128);
    }
    template <wgmma::Shape shape>
    static CUtensorMap map_b(const SingleProduct &product)
    {
      using P = Layout<shape>;
      return make_box_map(packed(product.size.k, product.size.n), product.b, P::tile_n, P::step_k);
    }

  private:
    /// A matrix as a block of cells with one mode: rows of the matrix are rows of cells.
    static Block packed(std::int64_t rows, std::int64_t columns)
    {
      Block block(2, 0, {columns, rows, 1});
      block.pitch = columns;
      return block;
    }
  };
  using SplitByBlocks = wgmma::Launcher<SplitKernels>;

  constexpr SinglePolicy by_mma{Unit::mma, Format::fp16, Correction::outside};
} // namespace

template <>
wgmma::Plan wgmma::plan_of<float>(const Size &size)
{
  return corrected_plan_of(size, Corrected::residents(), SplitByBlocks::residents());
}

template <>
void wgmma::multiply(const Plan &plan, const Size &size, const float *a, const float *b, float *c,
    float *workspace, float *partial, Stream stream)
{
  if (plan.division.sections() == 0)
    return;
  if (plan.shape.splits)
    return SplitByBlocks::multiply(plan, {size, a, b}, c, partial, stream);
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
  if (size.k == 0)
    return 0;
  const wgmma::Plan plan = wgmma::plan_of<float>(size);
  return wgmma::factor_numbers<float>(size, plan.shape) + plan.partial_numbers();
}

void single_wgmma(
    const Size &size, const float *a, const float *b, float *c, float *workspace, Stream stream)
{
  if (size.k == 0) // there is nothing to describe
    return Single<by_mma>::multiply(size, a, b, c, nullptr, stream);
  const wgmma::Plan plan = wgmma::plan_of<float>(size);
  wgmma::multiply(plan, size, a, b, c, workspace,
      workspace + wgmma::factor_numbers<float>(size, plan.shape), stream);
}
} // namespace tensormg::gemm
