#include "apps/common/thread_team.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#include <sched.h>

namespace tensormg
{
namespace
{
  /// Polls before a thread goes to sleep: some microseconds.
  constexpr int patience = 2000;

  /// Returns once the value differs from `old`.
  void wait_for_change(const std::atomic<std::uint32_t> &value, std::uint32_t old)
  {
    for (int poll = 0; poll < patience; ++poll)
      if (value.load(std::memory_order_acquire) != old)
        return;
    value.wait(old, std::memory_order_acquire);
  }
} // namespace

ThreadTeam::ThreadTeam(int size)
{
  for (int index = 1; index < size; ++index)
    threads_.emplace_back([this, index] { serve(index); });
}

ThreadTeam::~ThreadTeam()
{
  work_ = nullptr;
  calls_.fetch_add(1, std::memory_order_release);
  calls_.notify_all();
  for (std::thread &thread : threads_)
    thread.join();
}

void ThreadTeam::serve(int index)
{
  for (std::uint32_t seen = 0;; ++seen)
  {
    wait_for_change(calls_, seen);
    if (work_ == nullptr)
      return;
    call(index);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      busy_.notify_all();
  }
}

void ThreadTeam::call(int index)
{
  try
  {
    (*work_)(index);
  }
  catch (...)
  {
    const std::lock_guard lock(mutex_);
    if (!error_)
      error_ = std::current_exception();
  }
}

void ThreadTeam::run(const std::function<void(int)> &work)
{
  work_ = &work;
  busy_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_relaxed);
  calls_.fetch_add(1, std::memory_order_release);
  calls_.notify_all();
  call(0);
  for (std::uint32_t left; (left = busy_.load(std::memory_order_acquire)) != 0;)
    wait_for_change(busy_, left);
  if (error_)
    std::rethrow_exception(std::exchange(error_, nullptr));
}

int usable_cores()
{
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::set<std::string> cores; // the threads of one core have the same list of siblings
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed))
    {
      std::ifstream file(
          "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
      std::string siblings;
      cores.insert(file >> siblings ? siblings : std::to_string(cpu));
    }
  std::ifstream limit("/sys/fs/cgroup/cpu.max"); // "max 100000" or "150000 100000"
  double quota = 0., period = 0.;
  auto count = static_cast<int>(cores.size());
  if (limit >> quota >> period && period > 0.)
    count = std::min(count, static_cast<int>(std::ceil(quota / period)));
  return std::max(1, count);
}
} // namespace tensormg
