// Asking for memory that is needed later, without registers for it. tests/emulation has another version of this file.
#pragma once

#include <cuda_runtime.h>

namespace tensormg
{
/// From memory to the second cache, by one instruction; begin and size are multiples of 16 bytes. Before compute capability 9.0 nothing.
__device__ inline void prefetch_to_l2(
    [[maybe_unused]] const void *begin, [[maybe_unused]] unsigned bytes)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(begin), "r"(bytes));
#endif
}
} // namespace tensormg
