// Counts allocations of device memory.
#pragma once

#include "kernels/core/setup_times.h"

namespace tensormg::test
{
/// How often this thread asks the driver for device memory during f().
template <typename F>
int allocations(const F &f)
{
  setup_times::reset();
  setup_times::resume();
  f();
  setup_times::pause();
  int count = 0;
  for (const setup_times::Part &part : setup_times::parts())
    count += part.name == "device memory" ? part.count : 0;
  setup_times::reset();
  return count;
}
} // namespace tensormg::test
