#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "kernels/core/tensor_map.h"
#include "kernels/gemm/add_parts.h"
#include "kernels/gemm/aligned_rows.h"
#include "kernels/gemm/device.h"
#include "kernels/gemm/wgmma_kernel.cuh"
#include "kernels/gemm/wgmma_plan.h"
#include "kernels/tensor/device_resources.cuh"

namespace tensormg::gemm
{
namespace wgmma
{
  namespace
  {
    using Indices = std::make_index_sequence<shapes.size()>;

    template <std::size_t... i>
    Residents ask_for_residents(std::index_sequence<i...>)
    {
      tensor::require_compiled_for(90, product_kernel<0>);
      return {resident_clusters(reinterpret_cast<const void *>(product_kernel<i>),
          shapes[i].cluster, Parts<shapes[i]>::threads, Parts<shapes[i]>::shared_bytes)...};
    }

    /// Of the current device. Asking takes longer than small products.
    const Residents &residents()
    {
      static std::mutex mutex;
      static std::map<int, Residents> known;
      int device = 0;
      check_cuda(cudaGetDevice(&device), "asking for the device");
      const std::lock_guard<std::mutex> lock(mutex);
      auto entry = known.find(device);
      if (entry == known.end())
        entry = known.emplace(device, ask_for_residents(Indices())).first;
      return entry->second;
    }

    struct Product
    {
      const Size &size;
      const AlignedFactors<Half> &factors;
      const Division &division;
      float *c, *partial;
      Stream stream;
    };

    template <std::size_t index>
    void run(const Product &product)
    {
      constexpr Shape shape = shapes[index];
      using P = Parts<shape>;
      const Size &size = product.size;
      const int clusters = std::min(residents()[index], product.division.sections());
      // A matrix as a block of cells with one mode: rows of the matrix are rows of cells.
      const auto map = [](const Half *matrix, std::int64_t rows, std::int64_t columns,
                           int box_rows) {
        return make_box_map(
            Block(2, 0, {columns, rows, 1}), matrix, tile_k, box_rows, BoxLayout::swizzled_128);
      };
      cluster::launch_clusters("launching the product by wgmma", product_kernel<index>,
          dim3(static_cast<unsigned>(clusters * shape.cluster)), dim3(P::threads), P::shared_bytes,
          product.stream, map(product.factors.a, size.m, product.factors.columns_a, P::tile_m),
          map(product.factors.b, size.k, product.factors.columns_b, P::piece_rows),
          Work{static_cast<int>(size.m), static_cast<int>(size.n), product.division, product.c,
              product.partial});
      if (product.division.divided() > 0)
        add_parts(product.division, shape.rows(), shape.tile_n, static_cast<int>(size.m),
            static_cast<int>(size.n), product.partial, product.c, product.stream);
    }

    template <std::size_t... i>
    void run(int shape, const Product &product, std::index_sequence<i...>)
    {
      ((static_cast<int>(i) == shape ? run<i>(product) : void()), ...);
    }
  } // namespace

  Plan plan_of(const Size &size) { return plan_of(size, residents()); }

  void multiply(const Plan &plan, const Size &size, const Half *a, const Half *b, float *c,
      Half *workspace, float *partial, Stream stream)
  {
    if (plan.division.sections() == 0)
      return;
    const AlignedFactors<Half> factors(size, a, b, workspace, stream);
    run(plan.shape, {size, factors, plan.division, c, partial, stream}, Indices());
  }
} // namespace wgmma

Blocking fp16_wgmma_blocking()
{
  constexpr const wgmma::Shape &shape = wgmma::shapes[0];
  return {shape.rows(), shape.tile_n, wgmma::residents()[0]};
}

void fp16_wgmma_largest(
    const Size &size, const Half *a, const Half *b, float *c, Half *workspace, Stream stream)
{
  const wgmma::Plan plan{0, wgmma::division_of(size, wgmma::shapes[0], wgmma::residents()[0], 1)};
  wgmma::multiply(plan, size, a, b, c, workspace, nullptr, stream);
}

/// The sums of parts lie behind the copies, which are whole lines.
template <>
std::int64_t wgmma_workspace<Half>(const Size &size)
{
  constexpr int halves_of_sum = sizeof(float) / sizeof(Half);
  return aligned_numbers(size) + halves_of_sum * wgmma::plan_of(size).partial_numbers();
}

void fp16_wgmma(
    const Size &size, const Half *a, const Half *b, float *c, Half *workspace, Stream stream)
{
  if (size.k == 0)
    return fp16<Rung::larger>(size, a, b, c, stream); // there is nothing to describe
  wgmma::multiply(wgmma::plan_of(size), size, a, b, c, workspace,
      reinterpret_cast<float *>(workspace + aligned_numbers(size)), stream);
}
} // namespace tensormg::gemm
