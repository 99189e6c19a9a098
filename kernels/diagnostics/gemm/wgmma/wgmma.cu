#include "kernels/diagnostics/gemm/aligned_rows.h"
#include "kernels/diagnostics/gemm/device.h"
#include "kernels/diagnostics/gemm/wgmma/launch.cuh"

namespace tensormg::gemm
{
namespace
{
  struct Kernels : wgmma::HalfFactors
  {
    static constexpr auto &table = wgmma::shapes;
    template <std::size_t index>
    static auto kernel()
    {
      return wgmma::product_kernel<static_cast<int>(index)>;
    }
  };
  using OfHalf = wgmma::Launcher<Kernels>;
} // namespace

template <>
wgmma::Plan wgmma::plan_of<Half>(const Size &size)
{
  return OfHalf::plan(size);
}

template <>
void wgmma::multiply(const Plan &plan, const Size &size, const Half *a, const Half *b, float *c,
    Half *workspace, float *partial, Stream stream)
{
  if (plan.division.sections() == 0)
    return;
  const AlignedFactors<Half> factors(size, a, b, workspace, stream);
  OfHalf::multiply(
      plan, {size, factors.a, factors.b, factors.columns_a, factors.columns_b}, c, partial, stream);
}

Blocking fp16_wgmma_blocking()
{
  constexpr const wgmma::Shape &shape = wgmma::shapes[0];
  return {shape.rows(), shape.tile_n, OfHalf::residents()[0]};
}

void fp16_wgmma_largest(
    const Size &size, const Half *a, const Half *b, float *c, Half *workspace, Stream stream)
{
  constexpr const wgmma::Shape &shape = wgmma::shapes[0];
  const wgmma::Plan plan{0, shape, wgmma::division_of(size, shape, OfHalf::residents()[0], 1)};
  wgmma::multiply(plan, size, a, b, c, workspace, nullptr, stream);
}

/// The sums of parts lie behind the copies, which are whole lines.
template <>
std::int64_t wgmma_workspace<Half>(const Size &size)
{
  constexpr int halves_of_sum = sizeof(float) / sizeof(Half);
  return aligned_numbers(size) + halves_of_sum * OfHalf::plan(size).partial_numbers();
}

void fp16_wgmma(
    const Size &size, const Half *a, const Half *b, float *c, Half *workspace, Stream stream)
{
  if (size.k == 0)
    return fp16<Rung::larger>(size, a, b, c, stream); // there is nothing to describe
  wgmma::multiply(OfHalf::plan(size), size, a, b, c, workspace,
      reinterpret_cast<float *>(workspace + aligned_numbers(size)), stream);
}
} // namespace tensormg::gemm
