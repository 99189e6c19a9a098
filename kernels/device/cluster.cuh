// Device primitives of clusters: blocks that run at the same time and reach each other's shared memory. A kernel says
// by __cluster_dims__ how many blocks (along x) a cluster has, and is started by launch_clusters(). Thin names over PTX;
// source: PTX ISA 8.x, sections "barrier.cluster", "cp.async.bulk.tensor", "mapa", "mbarrier.arrive", "st.async". Needs compute
// capability 9.0. tests/emulation has another version of this file.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/device/compiled_for.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/pipeline.cuh"

// nvcc refuses the attribute where there are no clusters.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#undef __cluster_dims__
#define __cluster_dims__(...)
#endif

namespace tensormg::cluster
{
/// This block's place in its cluster of `blocks`. Here and below a cluster of one block is a block without a cluster.
template <int blocks>
__device__ int rank()
{
  if constexpr (!compiled_for::has_copy_engine)
    return 0;
  if constexpr (blocks == 1)
    return 0;
  std::uint32_t value;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(value));
  return static_cast<int>(value);
}

/// All threads of the cluster meet: what they wrote to shared memory before, barriers for example, is seen after. A
/// block must not end before others have done with its memory.
template <int blocks>
__device__ void synchronize()
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  if constexpr (blocks == 1)
    return __syncthreads();
  asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
}

/// pipeline::load_box() to the same place in each of the `blocks` of the cluster; in each one, its barrier at the place
/// of `barrier` counts the bytes.
template <int blocks>
__device__ void load_box_for_all(
    void *to, const CUtensorMap *map, pipeline::Barrier *barrier, int c0, int c1, int c2, int c3)
{
  if constexpr (blocks == 1)
    pipeline::load_box(to, map, barrier, c0, c1, c2, c3);
  else if constexpr (compiled_for::has_multicast)
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%3, %4, %5, %6}], [%2], %7;" ::"r"(
                     pipeline::shared_address(to)),
                 "l"(map), "r"(pipeline::shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2),
                 "r"(c3), "h"(static_cast<std::uint16_t>((1 << blocks) - 1))
                 : "memory");
  else
    compiled_for::stop();
}

/// The same place in the shared memory of block `rank`, to be read or written.
template <int blocks, typename T>
__device__ T *there(T *here, int rank)
{
  if constexpr (!compiled_for::has_copy_engine)
    return here;
  if constexpr (blocks == 1)
    return here;
  std::uint64_t address;
  asm("mapa.u64 %0, %1, %2;" : "=l"(address) : "l"(here), "r"(rank));
  return reinterpret_cast<T *>(address);
}

/// One arrival at the barrier at the place of `barrier` in block `rank`, of a thread whose reads are complete. It does
/// not order memory: with release semantics for the cluster it would wait for all memory, which takes as long as the
/// products of half a stage (measured).
template <int blocks>
__device__ void arrive_at(pipeline::Barrier *barrier, int rank)
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  if constexpr (blocks == 1)
    return pipeline::arrive(barrier);
  asm volatile("{\n\t.reg .b32 remote;\n\tmapa.shared::cluster.u32 remote, %0, %1;\n\t"
               "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [remote];\n\t}" ::"r"(
                   pipeline::shared_address(barrier)),
               "r"(rank)
               : "memory");
}

/// Writes a Letter of 8 or 16 bytes to the place of `to` in block `rank`, where the barrier at the place of `barrier` counts the
/// bytes. Nobody waits for it here; who has waited there sees it, by wait_for_letters() as PTX has it, and as measured
/// by a wait of block scope, too, since shared memory does not pass through L1.
template <int blocks, typename Letter>
__device__ void send(Letter *to, const Letter &letter, pipeline::Barrier *barrier, int rank)
{
  constexpr int words = int(sizeof(Letter)) / 8;
  static_assert(blocks > 1 && (sizeof(Letter) == 8 || sizeof(Letter) == 16));
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  std::uint64_t word[words];
  memcpy(word, &letter, sizeof(Letter));
  const std::uint32_t at = pipeline::shared_address(to), count = pipeline::shared_address(barrier);
  if constexpr (words == 1)
    asm volatile("{\n\t.reg .b32 place, remote;\n\tmapa.shared::cluster.u32 place, %0, %3;\n\t"
                 "mapa.shared::cluster.u32 remote, %1, %3;\n\t"
                 "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 "
                 "[place], %2, [remote];\n\t}" ::"r"(at),
                 "r"(count), "l"(word[0]), "r"(rank)
                 : "memory");
  else
    asm volatile("{\n\t.reg .b32 place, remote;\n\tmapa.shared::cluster.u32 place, %0, %4;\n\t"
                 "mapa.shared::cluster.u32 remote, %1, %4;\n\t"
                 "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 "
                 "[place], {%2, %3}, [remote];\n\t}" ::"r"(at),
                 "r"(count), "l"(word[0]), "l"(word[1]), "r"(rank)
                 : "memory");
}

/// Waits, for a bounded time, until what others send() in this phase has come, or until they have arrived.
__device__ inline void wait_for_letters(pipeline::Barrier *barrier, unsigned parity)
{
  pipeline::wait_bounded<30, pipeline::Scope::cluster>(barrier, parity);
}

/// launch_overlapping() of a kernel with __cluster_dims__, if any; the grid has whole clusters.
template <typename... P, typename... A>
void launch_clusters(const char *name, void (*kernel)(P...), dim3 grid, dim3 block,
    std::size_t shared_bytes, Stream stream, A &&...arguments)
{
  launch_overlapping(
      name, kernel, grid, block, shared_bytes, stream, std::forward<A>(arguments)...);
}
} // namespace tensormg::cluster
