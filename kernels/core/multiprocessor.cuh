// The number of a multiprocessor, from which follows which half of L2 is near (l2_halves.h). tests/emulation has another
// version of this file.
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
} // namespace tensormg
