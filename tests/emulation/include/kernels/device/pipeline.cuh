// kernels/device/pipeline.cuh of the emulation: mbarriers that count, a copy engine that works when somebody
// waits for it.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include <cuda.h>

#include "tests/emulation/emulation.h"
#include "tests/emulation/tensor_box.h"

namespace tensormg::pipeline
{
using Barrier = std::uint64_t;

inline constexpr unsigned warp_arrivals = 32;

namespace internal
{
  /// What the 64 bits of a barrier hold here.
  struct State
  {
    std::uint16_t count;   ///< arrivals of a phase, 15 bits; the top bit is the parity of the phase
    std::uint16_t pending; ///< arrivals that are missing
    std::int32_t bytes;    ///< that must land
  };
  static_assert(sizeof(State) == sizeof(Barrier));

  inline State read(const void *barrier)
  {
    State state;
    std::memcpy(&state, barrier, sizeof(state));
    return state;
  }

  /// Stores the state, and begins the next phase if this one is complete.
  inline void write(Barrier *barrier, State state)
  {
    if (state.pending == 0 && state.bytes == 0)
    {
      state.count ^= 0x8000u;
      state.pending = state.count & 0x7fffu;
    }
    std::memcpy(barrier, &state, sizeof(state));
  }

  inline void change(Barrier *barrier, int arrivals, int bytes)
  {
    State state = read(barrier);
    if (state.pending < arrivals)
      throw std::runtime_error("more arrivals at an mbarrier than a phase has");
    state.pending = static_cast<std::uint16_t>(state.pending - arrivals);
    state.bytes += bytes;
    write(barrier, state);
  }

  inline bool phase_ended(const void *barrier, std::uint64_t parity)
  {
    return (read(barrier).count >> 15) != parity;
  }
} // namespace internal

inline void init(Barrier *barrier, unsigned count)
{
  const internal::State state{
      static_cast<std::uint16_t>(count), static_cast<std::uint16_t>(count), 0};
  std::memcpy(barrier, &state, sizeof(state));
}
inline void fence_init() {}
inline void fence_copies() {}
inline void arrive(Barrier *barrier) { internal::change(barrier, 1, 0); }
inline void arrive_to_overwrite(Barrier *barrier) { arrive(barrier); }
inline void arrive_behind(Barrier *barrier, std::uint32_t /*zero*/) { arrive(barrier); }
inline std::uint32_t zero_after(std::uint32_t zero, std::uint32_t result) { return result & zero; }
inline void arrive_expect(Barrier *barrier, unsigned bytes)
{
  internal::change(barrier, 1, static_cast<int>(bytes));
}
inline void wait(Barrier *barrier, unsigned parity)
{
  emulation::land_copies(barrier);
  // Copies that are issued later land when the issuer or another waiter comes by.
  while (!internal::phase_ended(barrier, parity))
  {
    emulation::wait_for({[](const void *object, std::uint64_t value) {
                           return internal::phase_ended(object, value) ||
                               emulation::has_copies(object);
                         },
        barrier, parity, "an mbarrier"});
    emulation::land_copies(barrier);
  }
}
inline void wait_to_copy(Barrier *barrier, unsigned parity) { wait(barrier, parity); }
struct Phase
{
  Barrier *barrier;
  unsigned parity;
};
template <int count, bool bounded = false, typename At>
void wait_all(const At &at)
{
  for (int index = 0; index < count; ++index)
    wait(at(index).barrier, at(index).parity);
}
/// No wait of the emulation is for ever: if everybody waits, the launch ends with an error.
template <unsigned most_seconds = 30>
void wait_bounded(Barrier *barrier, unsigned parity)
{
  wait(barrier, parity);
}

template <int slots>
struct RingPosition
{
  int slot = 0;
  unsigned parity = 0;

  void advance()
  {
    if (++slot == slots)
    {
      slot = 0;
      parity ^= 1u;
    }
  }
};

inline void load_box(
    void *to, const CUtensorMap *map, Barrier *barrier, int c0, int c1, int c2, int c3)
{
  if (reinterpret_cast<std::uintptr_t>(to) % 128 != 0)
    throw std::runtime_error("a box copied to an address that is not aligned to 128 bytes");
  emulation::thread->block->copies.push_back(
      // The thread may have returned, and with it its copy of the parameters, before the box lands.
      {[=, box = *map] {
         const int bytes = emulation::copy_box(to, &box, {c0, c1, c2, c3});
         internal::change(barrier, 0, -bytes);
       },
          barrier});
}
inline void load_box_kept(
    void *to, const CUtensorMap *map, Barrier *barrier, int c0, int c1, int c2, int c3)
{
  load_box(to, map, barrier, c0, c1, c2, c3);
}
inline void load_box_once(
    void *to, const CUtensorMap *map, Barrier *barrier, int c0, int c1, int c2, int c3)
{
  load_box(to, map, barrier, c0, c1, c2, c3);
}

/// Reads shared memory when it is waited for.
inline void store_box(const CUtensorMap *map, const void *from, int c0, int c1, int c2, int c3)
{
  emulation::thread->groups.push_back({{[=] {
                                          emulation::store_box(map, from, {c0, c1, c2, c3});
                                        },
      nullptr}});
}
template <std::size_t pending = 0>
void wait_stores_read()
{
  auto &groups = emulation::thread->groups;
  for (; groups.size() > pending; groups.erase(groups.begin()))
    for (const emulation::PendingCopy &copy : groups.front())
      copy.land();
}
inline void prefetch_map(const CUtensorMap *) {}

inline void wait_for_kernel_before() {}
inline void let_next_kernel_start() {}

template <int count>
void grow_registers()
{}
template <int count>
void shrink_registers()
{}
} // namespace tensormg::pipeline
