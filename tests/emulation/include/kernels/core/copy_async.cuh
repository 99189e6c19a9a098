// kernels/core/copy_async.cuh of the emulation: copies land when their group is waited for.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "tests/emulation/emulation.h"

namespace tensormg
{
using SharedAddress = std::uintptr_t;

inline SharedAddress shared_address(const void *pointer)
{
  return reinterpret_cast<SharedAddress>(pointer);
}

inline void copy_async(void *to, const void *from)
{
  if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0 ||
      reinterpret_cast<std::uintptr_t>(from) % 16 != 0)
    throw std::runtime_error("cp.async with an address that is not aligned to 16 bytes");
  emulation::thread->open_group.push_back({[=] { std::memcpy(to, from, 16); }, nullptr});
}

inline void copy_async(SharedAddress to, const void *from)
{
  copy_async(reinterpret_cast<void *>(to), from);
}

inline void copy_async_or_zero(SharedAddress to, const void *from, bool is_there)
{
  if (is_there)
    return copy_async(to, from);
  if (to % 16 != 0)
    throw std::runtime_error("cp.async with an address that is not aligned to 16 bytes");
  emulation::thread->open_group.push_back(
      {[=] { std::memset(reinterpret_cast<void *>(to), 0, 16); }, nullptr});
}

inline void commit_copies()
{
  emulation::Thread &t = *emulation::thread;
  t.groups.push_back(std::move(t.open_group));
  t.open_group.clear();
}

/// Reads, so that a wrong address is found.
inline void prefetch_to_l2(const void *from)
{
  static_cast<void>(*static_cast<const volatile unsigned char *>(from));
}

template <int pending>
void wait_copies()
{
  auto &groups = emulation::thread->groups;
  while (groups.size() > pending)
  {
    for (const emulation::PendingCopy &copy : groups.front())
      copy.land();
    groups.erase(groups.begin());
  }
}
} // namespace tensormg
