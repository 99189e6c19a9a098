// kernels/device/cluster.cuh of the emulation: the whole grid runs at once.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <utility>

#include "kernels/device/launch.cuh"
#include "kernels/device/pipeline.cuh"
#include "tests/emulation/emulation.h"
#include "tests/emulation/tensor_box.h"

#undef __cluster_dims__
#define __cluster_dims__(...)

namespace tensormg::cluster
{
namespace internal
{
  /// Blocks of a grid lie one after the other, backwards in every other launch.
  template <int blocks>
  emulation::Block &block(int rank)
  {
    emulation::Block &own = *emulation::thread->block;
    const std::ptrdiff_t step = emulation::launches() % 2 == 0 ? -1 : 1;
    return *(&own + step * (rank - static_cast<int>(own.index.x) % blocks));
  }

  /// The same place in another block's shared memory.
  template <typename T>
  T *there(const emulation::Block &other, T *here)
  {
    const auto offset = reinterpret_cast<std::uintptr_t>(here) -
        reinterpret_cast<std::uintptr_t>(emulation::thread->block->shared);
    return reinterpret_cast<T *>(other.shared + offset);
  }
} // namespace internal

template <int blocks>
int rank()
{
  return static_cast<int>(emulation::thread->block->index.x) % blocks;
}

template <int blocks>
void synchronize()
{
  struct Meeting
  {
    std::uint64_t launch = 0, generation = 0;
    unsigned arrived = 0;
  };
  static std::map<unsigned, Meeting> meetings; // of the clusters
  const emulation::Block &block = *emulation::thread->block;
  Meeting &meeting = meetings[block.index.x / blocks];
  if (meeting.launch != emulation::launches())
    meeting = {emulation::launches(), 0, 0};
  if (++meeting.arrived == blocks * block.threads.size())
  {
    meeting.arrived = 0;
    ++meeting.generation;
  }
  else
    emulation::wait_for({[](const void *object, std::uint64_t generation) {
                           return static_cast<const Meeting *>(object)->generation != generation;
                         },
        &meeting, meeting.generation, "a barrier of the cluster"});
}

template <int blocks>
void load_box_for_all(
    void *to, const CUtensorMap *map, pipeline::Barrier *barrier, int c0, int c1, int c2, int c3)
{
  for (int r = 0; r < blocks; ++r)
  {
    emulation::Block &other = internal::block<blocks>(r);
    void *const place = internal::there(other, static_cast<unsigned char *>(to));
    pipeline::Barrier *const its = internal::there(other, barrier);
    other.copies.push_back({[=, box = *map] {
                              const int bytes = emulation::copy_box(place, &box, {c0, c1, c2, c3});
                              pipeline::internal::change(its, 0, -bytes);
                            },
        its});
  }
}

template <int blocks, typename T>
T *there(T *here, int rank)
{
  return internal::there(internal::block<blocks>(rank), here);
}

template <int blocks>
void arrive_at(pipeline::Barrier *barrier, int rank)
{
  pipeline::arrive(internal::there(internal::block<blocks>(rank), barrier));
}

/// Lands when somebody waits for it, as copies do.
template <int blocks, typename Letter>
void send(Letter *to, const Letter &letter, pipeline::Barrier *barrier, int rank)
{
  static_assert(sizeof(Letter) == 8 || sizeof(Letter) == 16);
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(Letter) != 0)
    throw std::runtime_error("a letter that is not aligned to its bytes");
  emulation::Block &other = internal::block<blocks>(rank);
  Letter *const place = internal::there(other, to);
  pipeline::Barrier *const its = internal::there(other, barrier);
  other.copies.push_back({[=] {
                            *place = letter;
                            pipeline::internal::change(its, 0, -int(sizeof(Letter)));
                          },
      its});
}

inline void wait_for_letters(pipeline::Barrier *barrier, unsigned parity)
{
  pipeline::wait(barrier, parity);
}

template <typename... P, typename... A>
void launch_clusters(const char *name, void (*kernel)(P...), dim3 grid, dim3 block,
    std::size_t shared_bytes, Stream stream, A &&...arguments)
{
  launch_cooperative(
      name, kernel, grid, block, shared_bytes, stream, std::forward<A>(arguments)...);
}
} // namespace tensormg::cluster
