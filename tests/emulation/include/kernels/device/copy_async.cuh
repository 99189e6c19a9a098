// kernels/device/copy_async.cuh of the emulation: copies land when their group is waited for.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "kernels/device/shared_address.cuh"
#include "tests/emulation/emulation.h"

namespace tensormg
{
/// 4, 8 or 16 bytes, or zeros.
template <int bytes = 16>
void copy_async_or_zero(SharedAddress to, const void *from, bool is_there)
{
  static_assert(bytes == 4 || bytes == 8 || bytes == 16);
  if (to % bytes != 0 || (is_there && reinterpret_cast<std::uintptr_t>(from) % bytes != 0))
    throw std::runtime_error(
        "cp.async with an address that is not aligned to " + std::to_string(bytes) + " bytes");
  void *const place = reinterpret_cast<void *>(to);
  if (is_there)
    emulation::thread->open_group.push_back({[=] { std::memcpy(place, from, bytes); }, nullptr});
  else
    emulation::thread->open_group.push_back({[=] { std::memset(place, 0, bytes); }, nullptr});
}

inline void copy_async(SharedAddress to, const void *from) { copy_async_or_zero(to, from, true); }

inline void copy_async(void *to, const void *from) { copy_async(shared_address(to), from); }

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
