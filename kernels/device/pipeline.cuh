// Device primitives of an asynchronous pipeline: mbarriers, bulk tensor copies (TMA), register
// reallocation between warp groups. Thin names over PTX; source: PTX ISA 8.x, sections "mbarrier",
// "cp.async.bulk.tensor", "setmaxnreg", "griddepcontrol". Needs compute capability 9.0 (setmaxnreg: an sm_90a build).
#pragma once

#include <cstdint>

#include <cuda.h>

#include "kernels/device/compiled_for.cuh"
#include "kernels/device/shared_address.cuh"

namespace tensormg::pipeline
{
using Barrier = std::uint64_t;

using tensormg::shared_address;

/// Makes the barrier ready for phases of `count` arrivals each.
__device__ inline void init(Barrier *barrier, unsigned count)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
               : "memory");
}

/// Orders init() before the first use by other threads and by the copy engine.
__device__ inline void fence_init()
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Orders this thread's writes to shared memory before copies by the engine to the same place.
__device__ inline void fence_copies()
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// One arrival; what this thread wrote to shared memory before is seen by those who wait.
__device__ inline void arrive(Barrier *barrier)
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

/// One arrival of a thread that has read what the copy engine is going to overwrite. A plain arrival does not
/// wait for loads that are under way: with many of them queued, a few numbers in 1e8 were those of the next
/// copy. The fence orders reads (and writes) of this thread before the engine's writes.
__device__ inline void arrive_to_overwrite(Barrier *barrier)
{
  fence_copies();
  arrive(barrier);
}

/// The same without a fence: one arrival behind instructions that need all that has been read. `zero`: of zero_after() what they gave.
__device__ inline void arrive_behind(Barrier *barrier, std::uint32_t zero)
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  asm volatile(
      "mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier) + zero)
      : "memory");
}

/// Zero when `result` is there. zero: a parameter of the kernel that is zero, which the compiler does not know.
__device__ inline std::uint32_t zero_after(std::uint32_t zero, std::uint32_t result)
{
  return result & zero;
}

/// Barriers that warps arrive at count every lane: one lane for all of them after a __syncwarp() is no
/// faster (measured), and tools that follow each lane on its own do not see the order.
inline constexpr unsigned warp_arrivals = 32;

/// One arrival, and `bytes` of bulk copies must land before the phase ends.
__device__ inline void arrive_expect(Barrier *barrier, unsigned bytes)
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(
                   shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

/// From whom what a thread sees after a wait may come.
enum class Scope : std::uint8_t
{
  block,
  cluster
};

/// Has the phase of the given parity ended? Waits for it as long as the device sees fit.
template <Scope scope = Scope::block>
__device__ bool try_wait(Barrier *barrier, unsigned parity)
{
  if constexpr (!compiled_for::has_copy_engine)
  {
    compiled_for::stop();
    return true;
  }
  std::uint32_t done;
  if constexpr (scope == Scope::cluster)
    asm volatile("{\n\t.reg .pred p;\n\t"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t}"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
  else
    asm volatile("{\n\t.reg .pred p;\n\t"
                 "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t}"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
  return done != 0;
}

/// Waits until the phase of the given parity has ended.
__device__ inline void wait(Barrier *barrier, unsigned parity)
{
  while (!try_wait(barrier, parity))
    ;
}

/// wait() of a thread that is going to copy what others have written to shared memory: they call arrive() without a fence of their
/// own. Those who have read what is going to be overwritten need theirs (arrive_to_overwrite(), or arrive_behind()): the compiler lets a plain
/// arrival go before the use of what was read.
__device__ inline void wait_to_copy(Barrier *barrier, unsigned parity)
{
  wait(barrier, parity);
  fence_copies();
}

/// A barrier and the parity of one of its phases.
struct Phase
{
  Barrier *barrier;
  unsigned parity;
};

/// wait() for another block: after about `most_seconds` in vain the kernel ends with an error (a trap, which the host sees as a
/// failed launch) instead of waiting for ever. The clock is read only where the first look was in vain.
template <unsigned most_seconds = 30, Scope scope = Scope::block>
__device__ void wait_bounded(Barrier *barrier, unsigned parity)
{
  constexpr int log_unit = 20; // of time: 2^20 ns, so that 32 bits are enough
  constexpr std::uint32_t most_units = most_seconds * 1'000'000'000ull >> log_unit;
  const auto now = [] {
    std::uint64_t nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return static_cast<std::uint32_t>(nanoseconds >> log_unit);
  };
  if (try_wait<scope>(barrier, parity))
    return;
  const std::uint32_t start = now();
  while (!try_wait<scope>(barrier, parity))
    if (now() - start > most_units)
      compiled_for::stop();
}

/// wait() for `count` phases, at(0), ..., at(count - 1); looks at all of them at once: a look takes as long as a
/// read of shared memory, and looks one after the other that long each. Where one is late the device may take its time over the look.
/// bounded: wait_bounded().
template <int count, bool bounded = false, typename At>
__device__ __forceinline__ void wait_all(const At &at)
{
  bool ended = true;
#pragma unroll
  for (int index = 0; index < count; ++index)
  {
    const Phase phase = at(index);
    ended &= try_wait(phase.barrier, phase.parity);
  }
  if (ended)
    return;
#pragma unroll
  for (int index = 0; index < count; ++index)
  {
    const Phase phase = at(index);
    if constexpr (bounded)
      wait_bounded(phase.barrier, phase.parity);
    else
      wait(phase.barrier, phase.parity);
  }
}

/// A position in a ring of `slots` and the parity of the phase that its barrier is in.
template <int slots>
struct RingPosition
{
  int slot = 0;
  unsigned parity = 0;

  __device__ void advance()
  {
    if (++slot == slots)
    {
      slot = 0;
      parity ^= 1u;
    }
  }
};

/// Copies a box of a 4D tensor to shared memory; coordinates outside the tensor give zeros.
__device__ inline void load_box(
    void *to, const CUtensorMap *map, Barrier *barrier, int c0, int c1, int c2, int c3)
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(shared_address(to)),
               "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
               : "memory");
}

/// load_box() of what other blocks read soon: L2 gives it up after everything else. While a kernel that writes as much as it reads
/// goes through memory, the cells that its blocks read around their tiles are then still there.
__device__ inline void load_box_kept(
    void *to, const CUtensorMap *map, Barrier *barrier, int c0, int c1, int c2, int c3)
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  asm volatile(
      "{\n\t.reg .b64 policy;\n\t"
      "createpolicy.fractional.L2::evict_last.b64 policy, 1.0;\n\t"
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5, %6}], [%2], policy;\n\t}" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}

/// load_box() of what nobody reads again soon: L2 gives it up before anything else.
__device__ inline void load_box_once(
    void *to, const CUtensorMap *map, Barrier *barrier, int c0, int c1, int c2, int c3)
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  asm volatile(
      "{\n\t.reg .b64 policy;\n\t"
      "createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n\t"
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5, %6}], [%2], policy;\n\t}" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}

/// Copies a box from shared memory to a 4D tensor, without what lies outside of it. Those who wrote the box have called
/// fence_copies() before they arrived where this thread has waited, or this thread has called wait_to_copy(). As with load_box_once(), L2 gives it up early.
__device__ inline void store_box(
    const CUtensorMap *map, const void *from, int c0, int c1, int c2, int c3)
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  asm volatile(
      "{\n\t.reg .b64 policy;\n\t"
      "createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n\t"
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group.L2::cache_hint"
      " [%0, {%2, %3, %4, %5}], [%1], policy;\n\tcp.async.bulk.commit_group;\n\t}" ::"l"(map),
      "r"(shared_address(from)), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}

/// Waits until this thread's store_box() but the last `left` ones have read shared memory.
template <int left = 0>
__device__ inline void wait_stores_read()
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(left) : "memory");
}

__device__ inline void prefetch_map(const CUtensorMap *map)
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// In a kernel started by launch_overlapping(): the kernel before it in the stream has ended, and what it wrote is seen.
__device__ inline void wait_for_kernel_before()
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
/// Once all blocks have called this, a kernel started by launch_overlapping() behind this one may begin where there is
/// room; what it waits for is the end of this kernel.
__device__ inline void let_next_kernel_start()
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/// Registers per thread of this warp group from here on; all its warps call this.
template <int count>
__device__ void grow_registers()
{
  if constexpr (!compiled_for::has_setmaxnreg)
    return; // the compiler then divides registers evenly, as without it

  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
__device__ void shrink_registers()
{
  if constexpr (!compiled_for::has_setmaxnreg)
    return; // the compiler then divides registers evenly, as without it

  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
} // namespace tensormg::pipeline
