// Asynchronous copies of a thread from global to shared memory, in groups. Thin names over PTX; source:
// PTX ISA, "cp.async". Needs compute capability 8.0. tests/emulation has another version of this file.
#pragma once

#include <cstdint>

#include "kernels/device/shared_address.cuh"

namespace tensormg
{
/// 16 bytes, both addresses aligned to 16, past the L1 cache: copies of fewer bytes go through it, and
/// many in flight exhaust what shared memory leaves of it.
__device__ __forceinline__ void copy_async(SharedAddress to, const void *from)
{
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

/// 4, 8 or 16 bytes, both addresses aligned to as many, or zero bytes: then nothing is read, whatever the address. Without
/// a branch.
template <int bytes = 16>
__device__ __forceinline__ void copy_async_or_zero(
    SharedAddress to, const void *from, bool is_there)
{
  const int there = is_there ? bytes : 0;
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there)
                 : "memory");
  else
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(bytes), "r"(there)
        : "memory");
}

/// Ends a group: the copies since the last one.
__device__ __forceinline__ void commit_copies()
{
  asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ __forceinline__ void copy_async(void *to, const void *from)
{
  copy_async(shared_address(to), from);
}

/// A cache line on its way to the L2 cache. Addresses behind an allocation must not be passed.
__device__ __forceinline__ void prefetch_to_l2(const void *from)
{
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}

/// Waits for all but the newest `pending` groups of this thread.
template <int pending>
__device__ __forceinline__ void wait_copies()
{
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}
} // namespace tensormg
