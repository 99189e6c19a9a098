// What a kernel takes of a device.
#pragma once

namespace tensormg::tensor
{
struct Resources
{
  int registers = 0;                  ///< per thread
  int shared_bytes = 0;               ///< per block
  int local_bytes = 0;                ///< per thread: spilled registers and small arrays
  double occupancy = 0.;              ///< resident warps, of those possible
  double shared_bytes_per_entry = 0.; ///< read and written in shared memory, counted in the source
};
} // namespace tensormg::tensor
