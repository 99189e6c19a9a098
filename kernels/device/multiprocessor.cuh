// The number of a multiprocessor, from which follows which half of L2 is near (l2_halves.h), and the time. tests/emulation
// has another version of this file, without the time.
#pragma once

namespace tensormg
{
/// Of the multiprocessor that this thread runs on.
__device__ inline unsigned multiprocessor()
{
  unsigned number;
  asm("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

/// The same for all multiprocessors.
__device__ inline unsigned long long nanoseconds()
{
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}
} // namespace tensormg
