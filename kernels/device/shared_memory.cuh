// Shared memory of a block whose size is known at launch. tests/emulation has another version of this file.
#pragma once

namespace tensormg
{
/// Its beginning, aligned to 1024 bytes (swizzled layouts and copies count on it).
__device__ inline unsigned char *dynamic_shared()
{
  extern __shared__ __align__(1024) unsigned char dynamic_shared_bytes[];
  return dynamic_shared_bytes;
}
} // namespace tensormg
