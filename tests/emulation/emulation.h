// CUDA on the CPU, for tests: device code compiled as C++ runs here, one fiber per thread.
//
// Blocks run one after another, a cooperative grid at once. Threads change places where they wait for each
// other: at __syncthreads, at warp collectives, at mbarriers. Their order is another one in every launch,
// so that a test that compares two runs bitwise finds missing barriers. Asynchronous copies land only when
// somebody waits for them; shared memory starts as NaN. A block in which everybody waits is an error.
//
// It answers whether a kernel is right, not how fast it is, and knows nothing of bank conflicts, of memory
// order between blocks or of registers. Real devices have the last word: label gpu runs the same tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <vector_types.h>

namespace tensormg::emulation
{
/// What a thread waits for: ready(object, value).
struct Condition
{
  bool (*ready)(const void *object, std::uint64_t value) = nullptr;
  const void *object = nullptr;
  std::uint64_t value = 0;
  const char *what = "";
};

/// Where threads meet: the generation counts how often all have come.
struct Meeting
{
  unsigned mask = 0; ///< lanes that meet (of a warp)
  int arrived = 0;
  std::uint64_t generation = 0;
};

/// An asynchronous copy that has not landed yet.
struct PendingCopy
{
  std::function<void()> land;
  const void *barrier = nullptr; ///< mbarrier that waits for it; nullptr: a group of the thread
};

struct Block;

struct Warp
{
  static constexpr int lanes = 32, exchange_bytes = 256;
  int present = 0; ///< lanes that have not returned
  Meeting meetings[4];
  /// Two places for collectives of the whole warp, which take turns, and one for those of some lanes.
  alignas(16) unsigned char exchange[3][lanes][exchange_bytes];
};

struct Thread
{
  uint3 index{};
  int lane = 0;
  Warp *warp = nullptr;
  Block *block = nullptr;
  Condition waiting;
  bool done = false;
  void *fiber = nullptr;                        ///< the scheduler's
  std::vector<std::vector<PendingCopy>> groups; ///< committed, oldest first
  std::vector<PendingCopy> open_group;
};

/// The thread that runs now.
extern Thread *thread;

struct Block
{
  uint3 index{};
  dim3 block_size, grid_size;
  std::vector<unsigned char> shared_storage;
  unsigned char *shared = nullptr;
  int present = 0;
  Meeting meeting;
  std::vector<Warp> warps;
  std::vector<Thread> threads;
  std::vector<PendingCopy> copies; ///< by the copy engine
};

/// What __trap() throws: from then on every call of the runtime fails, as on a device.
struct Trap
{};

/// Lets others run until the condition holds.
void wait_for(const Condition &condition);
/// Lets others run.
void yield();
void block_barrier();
/// All lanes of the mask that have not returned.
void warp_barrier(unsigned mask);

/// Where the lanes of the mask meet next.
Meeting &warp_meeting(unsigned mask);

/// result = f(of_lane), where of_lane(l) is lane l's value. The whole warp meets once: who writes to a place again
/// has met the others since, after they read it. That is all the order which a collective promises.
template <typename T, typename F>
auto collective(unsigned mask, const T &value, F f)
{
  static_assert(sizeof(T) <= Warp::exchange_bytes);
  const bool is_whole = mask == ~0u;
  auto *const place = thread->warp->exchange[is_whole ? warp_meeting(mask).generation % 2 : 2];
  *reinterpret_cast<T *>(place[thread->lane]) = value;
  warp_barrier(mask);
  const auto result =
      f([place](int lane) -> const T & { return *reinterpret_cast<T *>(place[lane]); });
  if (!is_whole)
    warp_barrier(mask);
  return result;
}

/// The copies that this barrier waits for land.
void land_copies(const void *barrier);
/// Some have been issued and have not landed.
bool has_copies(const void *barrier);

/// Runs a grid. Throws what a thread throws, and std::runtime_error if all wait for ever.
void run(const std::function<void()> &body, dim3 grid, dim3 block, std::size_t shared_bytes,
    bool cooperative);

/// Launches until now, which is also what the order of threads is drawn from.
std::uint64_t launches();
} // namespace tensormg::emulation
