// The kernel of single_wgmma(): factors are sums of two FP16 numbers, A = A1 + A2 / scale, B likewise, as kernels/gemm/
// two_terms.h makes them,
//
//   A B = A1 B1 + (A1 B2 + A2 B1) / scale.
//
// A warpgroup has its sums three times: products A1 B1 of a stage, which tensor cores cut off, their sums outside of the
// unit, and the corrections, whose digits that are cut off are below those of the result. While the corrections of a
// stage are under way, its products are added.
//
// Method: H. Ootomo and R. Yokota, IJHPCA 36 (2022).
#pragma once

#include "kernels/diagnostics/gemm/two_terms.h"
#include "kernels/diagnostics/gemm/wgmma/kernel.cuh"

namespace tensormg::gemm::wgmma
{
/// A warpgroup; `group` counts those that multiply.
template <Shape shape>
__device__ void multiply_corrected_tiles(const Ring &ring, const Work &work, int group)
{
  using P = Parts<shape>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const int rank = cluster::rank<shape.cluster>();
  const auto release = [&](int slot) {
    __syncwarp();
    if (lane < shape.cluster)
      cluster::arrive_at<shape.cluster>(ring.empty + slot, lane);
  };
  pipeline::RingPosition<shape.stages> at;
  for (int index = static_cast<int>(blockIdx.x) / shape.cluster; index < work.division.sections();
       index += static_cast<int>(gridDim.x) / shape.cluster)
  {
    const Section section = section_of(work.division, index);
    constexpr int count = P::tile_n / 2;
    float sums[count], product[count], corrections[count];
#pragma unroll
    for (int i = 0; i < count; ++i)
      sums[i] = corrections[i] = 0.F;
    int previous = -1;
    for (int step = section.first; step < section.end; ++step)
    {
      pipeline::wait(ring.full + at.slot, at.parity);
      unsigned char *const tiles = ring.tiles + at.slot * P::stage_bytes;
      const mma::SharedMatrix a = mma::rows_of_k(tiles + group * 64 * row_bytes);
      const mma::SharedMatrix b = mma::rows_of_n(tiles + P::bytes_a, P::block_bytes);
      mma::warpgroup_begin();
#pragma unroll
      for (int k = 0; k < tile_k; k += 16)
        multiply(product, a.after(2 * k), b.after(row_bytes * k), k > 0);
      mma::warpgroup_commit();
#pragma unroll
      for (int k = 0; k < tile_k; k += 16)
      {
        multiply(corrections, a.after(2 * k), b.after(P::term_bytes_b + row_bytes * k));
        multiply(corrections, a.after(P::term_bytes_a + 2 * k), b.after(row_bytes * k));
      }
      mma::warpgroup_commit();
      // The products are complete, and so is all of the stage before.
      mma::warpgroup_wait<1>(product);
      if (previous >= 0)
        release(previous);
#pragma unroll
      for (int i = 0; i < count; ++i)
        sums[i] += product[i];
      previous = at.slot;
      at.advance();
    }
    mma::warpgroup_wait<0>(corrections);
    if (previous >= 0)
      release(previous);
#pragma unroll
    for (int i = 0; i < count; ++i)
      sums[i] = fmaf(corrections[i], 1.F / scale_of_small_term, sums[i]);
    store_section<shape>(
        sums, work, section, rank * P::tile_m + group * 64 + warp * 16, 0, ring.rows);
  }
}

/// `index` in the table of shapes.
template <int index>
__global__ void __cluster_dims__(corrected_shapes[index].cluster, 1, 1) __launch_bounds__(
    Parts<corrected_shapes[index]>::threads, corrected_shapes[index].per_multiprocessor)
    corrected_kernel(const __grid_constant__ CUtensorMap map_a,
        const __grid_constant__ CUtensorMap map_b, const __grid_constant__ Work work)
{
  constexpr Shape shape = corrected_shapes[index];
  run_block<shape>(&map_a, &map_b, work,
      [&](const Ring &ring, int group) { multiply_corrected_tiles<shape>(ring, work, group); });
}
} // namespace tensormg::gemm::wgmma
