#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>

#include "tests/emulation/emulation.h"

namespace tensormg::emulation
{
Thread *thread = nullptr;

namespace
{
  namespace context = boost::context;

  const Block *polled = nullptr; ///< block of the thread whose condition is being looked at
  constexpr std::size_t stack_bytes = 256 * 1024;
  std::uint64_t launch_count = 0;

  /// Small generator for the order of threads.
  struct Random
  {
    std::uint64_t state;
    std::uint64_t operator()()
    {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      return state;
    }
  };

  void finish(Thread &t)
  {
    t.done = true;
    // Those who wait for this lane or thread wait no longer.
    const auto leave = [](Meeting &meeting, int present) {
      if (meeting.arrived > 0 && meeting.arrived >= present)
      {
        meeting.arrived = 0;
        ++meeting.generation;
      }
    };
    --t.warp->present;
    --t.block->present;
    leave(t.block->meeting, t.block->present);
    for (Meeting &meeting : t.warp->meetings)
      if (meeting.mask == ~0u)
        leave(meeting, t.warp->present);
  }

  void prepare(Block &block, uint3 index, dim3 grid, dim3 size, std::size_t shared_bytes)
  {
    const int n = static_cast<int>(size.x * size.y * size.z);
    block.index = index;
    block.block_size = size;
    block.grid_size = grid;
    block.shared_storage.assign(shared_bytes + 1024, 0xff);
    const auto address = reinterpret_cast<std::uintptr_t>(block.shared_storage.data());
    block.shared = block.shared_storage.data() + (1024 - address % 1024) % 1024;
    block.present = n;
    block.warps.resize((n + 31) / 32);
    for (Warp &warp : block.warps)
    {
      warp.present = 0;
      std::fill_n(warp.meetings, std::size(warp.meetings), Meeting());
    }
    block.threads.assign(n, {});
    for (int i = 0; i < n; ++i)
    {
      Thread &t = block.threads[i];
      t.index = {i % size.x, i / size.x % size.y, i / size.x / size.y};
      t.lane = i % 32;
      t.warp = &block.warps[i / 32];
      t.block = &block;
      ++t.warp->present;
    }
  }

  struct Fiber
  {
    Thread *owner = nullptr;
    context::fiber continuation;
  };

  /// The threads that run, and in which order they take turns. A thread that waits goes on with the next one itself: going
  /// through run_blocks() would change stacks twice.
  struct Turns
  {
    std::vector<Fiber> fibers;
    Random &random;
    context::fiber end = {};        ///< where run_blocks() goes on
    context::fiber *left = nullptr; ///< of whom ran before
    std::size_t n_left = 0;
    std::size_t start = 0, step = 0;
    bool forwards = true, progress = true;
    std::exception_ptr error = nullptr;

    /// Warps stay together mostly, as on a device, but start anywhere and run in either direction.
    void begin_round()
    {
      start = random() % fibers.size();
      forwards = random() % 2 == 0;
      step = 0;
      progress = false;
    }

    std::string describe() const
    {
      for (const Fiber &fiber : fibers)
        if (!fiber.owner->done)
        {
          const Thread &t = *fiber.owner;
          return "all threads wait for ever; the first of them is thread " +
              std::to_string(t.index.x) + " of block " + std::to_string(t.block->index.x) + " at " +
              t.waiting.what;
        }
      return "";
    }

    /// Whose turn it is; none if all have returned, something went wrong, or everybody waits.
    Fiber *next()
    {
      while (n_left > 0 && !error)
      {
        for (; step < fibers.size(); ++step)
        {
          const std::size_t turn = start + (forwards ? step : fibers.size() - step);
          Fiber &fiber = fibers[turn < fibers.size() ? turn : turn - fibers.size()];
          Thread &t = *fiber.owner;
          polled = t.block;
          if (t.done || (t.waiting.ready && !t.waiting.ready(t.waiting.object, t.waiting.value)))
            continue;
          t.waiting = {};
          progress = true;
          ++step;
          thread = &t;
          return &fiber;
        }
        if (!progress)
          error = std::make_exception_ptr(std::runtime_error(describe()));
        else
          begin_round();
      }
      return nullptr;
    }

    /// Goes on where `to` stopped; returns when somebody comes back to `self`.
    void go_on(context::fiber &to, context::fiber &self)
    {
      left = &self;
      context::fiber before = std::move(to).resume();
      if (before) // who has returned leaves nothing
        *left = std::move(before);
    }
  };
  Turns *turns = nullptr; ///< of the threads that run now

  context::fiber &continuation_of(Fiber *fiber)
  {
    return fiber != nullptr ? fiber->continuation : turns->end;
  }

  /// Runs the threads of some blocks until all have returned.
  void run_blocks(std::vector<Block> &blocks, const std::function<void()> &body, Random &random)
  {
    static context::pooled_fixedsize_stack stacks(stack_bytes);
    Turns now{{}, random};
    turns = &now;
    for (Block &block : blocks)
      for (Thread &t : block.threads)
      {
        Fiber fiber;
        fiber.owner = &t;
        fiber.continuation =
            context::fiber(std::allocator_arg, stacks, [&body, &now, &t](context::fiber &&before) {
              if (before)
                *now.left = std::move(before);
              try
              {
                body();
              }
              catch (const context::detail::forced_unwind &)
              {
                throw;
              }
              catch (...)
              {
                if (!now.error)
                  now.error = std::current_exception();
              }
              finish(t);
              --now.n_left;
              return std::move(continuation_of(now.next()));
            });
        now.fibers.push_back(std::move(fiber));
      }
    now.n_left = now.fibers.size();
    for (std::size_t i = 0; i < now.fibers.size(); ++i)
      now.fibers[i].owner->fiber = &now.fibers[i];
    now.begin_round();
    if (Fiber *const first = now.next())
      now.go_on(first->continuation, now.end);
    thread = nullptr;
    now.fibers.clear(); // unwinds what has not returned
    turns = nullptr;
    if (now.error)
      std::rethrow_exception(now.error);
  }

  bool generation_passed(const void *object, std::uint64_t generation)
  {
    return static_cast<const Meeting *>(object)->generation != generation;
  }

  void meet(Meeting &meeting, int present, const char *what)
  {
    if (++meeting.arrived >= present)
    {
      meeting.arrived = 0;
      ++meeting.generation;
    }
    else
      wait_for({generation_passed, &meeting, meeting.generation, what});
  }
} // namespace

void wait_for(const Condition &condition)
{
  Thread *const self = thread;
  polled = self->block;
  if (condition.ready != nullptr && condition.ready(condition.object, condition.value))
    return;
  self->waiting = condition;
  auto *const of_self = static_cast<Fiber *>(self->fiber);
  if (Fiber *const next = turns->next(); next != of_self)
    turns->go_on(continuation_of(next), of_self->continuation);
  thread = self;
}

void yield() { wait_for({}); }

void block_barrier() { meet(thread->block->meeting, thread->block->present, "__syncthreads"); }

Meeting &warp_meeting(unsigned mask)
{
  for (Meeting &meeting : thread->warp->meetings)
    if (meeting.mask == mask || meeting.mask == 0)
    {
      meeting.mask = mask;
      return meeting;
    }
  throw std::runtime_error("more than four lane masks in one warp");
}

void warp_barrier(unsigned mask)
{
  meet(warp_meeting(mask), mask == ~0u ? thread->warp->present : __builtin_popcount(mask),
      "a warp collective");
}

void land_copies(const void *barrier)
{
  polled = thread->block;
  if (!has_copies(barrier))
    return; // mostly
  std::vector<PendingCopy> rest;
  std::vector<PendingCopy> mine;
  for (PendingCopy &copy : thread->block->copies)
    (copy.barrier == barrier ? mine : rest).push_back(std::move(copy));
  thread->block->copies = std::move(rest);
  for (const PendingCopy &copy : mine)
    copy.land();
}

bool has_copies(const void *barrier)
{
  const auto &copies = polled->copies;
  return std::any_of(copies.begin(), copies.end(),
      [&](const PendingCopy &copy) { return copy.barrier == barrier; });
}

void run(const std::function<void()> &body, dim3 grid, dim3 block, std::size_t shared_bytes,
    bool cooperative)
{
  if (grid.x * grid.y * grid.z == 0 || block.x * block.y * block.z == 0 ||
      block.x * block.y * block.z > 1024 || shared_bytes > 232448)
    throw std::runtime_error("a launch that no device accepts: " + std::to_string(grid.x) +
        " blocks of " + std::to_string(block.x) + " threads with " + std::to_string(shared_bytes) +
        " bytes of shared memory");
  Random random{0x9e3779b97f4a7c15ull * ++launch_count + 1};
  std::vector<Block> blocks;
  const unsigned n = grid.x * grid.y * grid.z;
  // Backwards in every other launch: blocks have no order.
  for (unsigned i = 0; i < n; ++i)
  {
    const unsigned at = launch_count % 2 == 0 ? n - 1 - i : i;
    const uint3 index{at % grid.x, at / grid.x % grid.y, at / grid.x / grid.y};
    if (cooperative)
    {
      if (blocks.empty())
        blocks.resize(n);
      prepare(blocks[i], index, grid, block, shared_bytes);
      continue;
    }
    blocks.resize(1);
    prepare(blocks[0], index, grid, block, shared_bytes);
    run_blocks(blocks, body, random);
  }
  if (cooperative)
    run_blocks(blocks, body, random);
}

std::uint64_t launches() { return launch_count; }
} // namespace tensormg::emulation
