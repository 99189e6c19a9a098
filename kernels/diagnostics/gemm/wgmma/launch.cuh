// What fp16_wgmma() and single_wgmma() do on the host: they ask which shapes of tiles a device has room for, plan, and launch.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "kernels/device/tensor_map.h"
#include "kernels/diagnostics/gemm/add_parts.h"
#include "kernels/diagnostics/gemm/wgmma/kernel.cuh"
#include "kernels/diagnostics/gemm/wgmma/plan.h"
#include "kernels/tensor/device_resources.cuh"

namespace tensormg::gemm::wgmma
{
/// Factors for the copy engine: rows of A have `columns_a` numbers, rows of B `columns_b`, a multiple of 8; of two terms the
/// second follows the first.
struct AlignedProduct
{
  Size size;
  const Half *a, *b;
  std::int64_t columns_a, columns_b;
};

/// What kernels of FP16 factors read, and how their blocks are made.
struct HalfFactors
{
  using Product = AlignedProduct;
  template <Shape shape>
  using Layout = Parts<shape>;

  template <Shape shape>
  static CUtensorMap map_a(const AlignedProduct &product)
  {
    return map(product.a, product.size.m, product.columns_a, shape.terms, Parts<shape>::tile_m,
        shape.terms);
  }
  template <Shape shape>
  static CUtensorMap map_b(const AlignedProduct &product)
  {
    return map(
        product.b, product.size.k, product.columns_b, shape.terms, Parts<shape>::piece_rows, 1);
  }

private:
  /// A matrix as planes of cells with one mode: rows of the matrix are rows of cells, terms are planes.
  static CUtensorMap map(const Half *matrix, std::int64_t rows, std::int64_t columns, int terms,
      int box_rows, int box_terms)
  {
    return make_box_map(Block(3, 0, {columns, rows, terms}), matrix, tile_k, box_rows,
        BoxLayout::swizzled_128, box_terms);
  }
};

/// Kernels has `table`, an array of shapes, kernel<i>() of each, the Layout of its blocks, the Product that they read and maps of its
/// factors, as HalfFactors.
template <typename Kernels>
class Launcher
{
public:
  using Residents = ResidentsOf<Kernels::table.size()>;
  using Product = typename Kernels::Product;

  /// Of the current device. Asking takes longer than small products. Throws DeviceError below compute capability 9.0.
  static const Residents &residents()
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

  static Plan plan(const Size &size) { return plan_of(size, Kernels::table, residents()); }

  /// k > 0. `partial` has the plan's partial_numbers().
  static void multiply(
      const Plan &plan, const Product &product, float *c, float *partial, Stream stream)
  {
    if (plan.division.sections() > 0)
      run(plan, product, c, partial, stream, Indices());
  }

private:
  using Indices = std::make_index_sequence<Kernels::table.size()>;
  template <std::size_t index>
  using Layout = typename Kernels::template Layout<Kernels::table[index]>;

  template <std::size_t... i>
  static Residents ask_for_residents(std::index_sequence<i...>)
  {
    tensor::require_compiled_for(90, Kernels::template kernel<0>());
    // The first shape must run; others are not taken where they find no room, as clusters of five on a part of a device.
    resident_clusters(reinterpret_cast<const void *>(Kernels::template kernel<0>()),
        Kernels::table[0].cluster, Layout<0>::threads, Layout<0>::shared_bytes);
    return {clusters_with_room(reinterpret_cast<const void *>(Kernels::template kernel<i>()),
        Kernels::table[i].cluster, Layout<i>::threads, Layout<i>::shared_bytes)...};
  }

  template <std::size_t index>
  static void run_shape(
      const Division &division, const Product &product, float *c, float *partial, Stream stream)
  {
    constexpr Shape shape = Kernels::table[index];
    const Size &size = product.size;
    const int resident = residents()[index]; // asking allows the shared memory, too
    const int clusters = Layout<index>::is_persistent ? std::min(resident, division.sections())
                                                      : division.sections();
    cluster::launch_clusters("launching the product by wgmma", Kernels::template kernel<index>(),
        dim3(static_cast<unsigned>(clusters * shape.cluster)), dim3(Layout<index>::threads),
        Layout<index>::shared_bytes, stream, Kernels::template map_a<shape>(product),
        Kernels::template map_b<shape>(product),
        Work{static_cast<int>(size.m), static_cast<int>(size.n), division, c, partial});
    if (division.divided() > 0)
      add_parts(division, shape.rows(), shape.tile_n, static_cast<int>(size.m),
          static_cast<int>(size.n), partial, c, stream);
  }

  template <std::size_t... i>
  static void run(const Plan &plan, const Product &product, float *c, float *partial, Stream stream,
      std::index_sequence<i...>)
  {
    ((static_cast<int>(i) == plan.index ? run_shape<i>(plan.division, product, c, partial, stream)
                                        : void()),
        ...);
  }
};
} // namespace tensormg::gemm::wgmma
