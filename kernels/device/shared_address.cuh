// Addresses in shared memory as instructions take them. tests/emulation has another version of this file.
#pragma once

#include <cstdint>

namespace tensormg
{
using SharedAddress = std::uint32_t;

__device__ __forceinline__ SharedAddress shared_address(const void *pointer)
{
  return static_cast<SharedAddress>(__cvta_generic_to_shared(pointer));
}

/// One that lanes have for themselves, to which offsets are added that they have in common. The instruction that accesses it
/// adds those; of a pointer and two offsets the compiler adds what is in common first, and then takes one more instruction per
/// access for the sum.
__device__ __forceinline__ SharedAddress lane_address(const void *pointer)
{
  SharedAddress address = shared_address(pointer);
  asm volatile("" : "+r"(address));
  return address;
}

/// 16 bits, the upper ones are zero.
__device__ __forceinline__ std::uint32_t read_16_bits(SharedAddress from)
{
  std::uint16_t bits;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(bits) : "r"(from) : "memory");
  return bits;
}
} // namespace tensormg
