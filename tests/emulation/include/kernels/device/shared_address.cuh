// kernels/device/shared_address.cuh of the emulation.
#pragma once

#include <cstdint>
#include <cstring>

namespace tensormg
{
using SharedAddress = std::uintptr_t;

inline SharedAddress shared_address(const void *pointer)
{
  return reinterpret_cast<SharedAddress>(pointer);
}
inline SharedAddress lane_address(const void *pointer) { return shared_address(pointer); }

inline std::uint32_t read_16_bits(SharedAddress from)
{
  std::uint16_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const void *>(from), sizeof(bits));
  return bits;
}
} // namespace tensormg
