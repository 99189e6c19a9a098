// Threads that work together on one kernel in host memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tensormg
{
/// Threads that live as long as the team, so that a call costs microseconds.
class ThreadTeam
{
public:
  /// `size` >= 1 threads, the caller included.
  explicit ThreadTeam(int size);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam &) = delete;
  ThreadTeam &operator=(const ThreadTeam &) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls work(0), ..., work(size() - 1) at the same time, work(0) in the caller, and waits for all. The
  /// first exception of a thread is thrown here.
  void run(const std::function<void(int)> &work);

private:
  void serve(int index);
  void call(int index);

  std::vector<std::thread> threads_;
  const std::function<void(int)> *work_ = nullptr; ///< nullptr: end
  std::atomic<std::uint32_t> calls_ = 0;
  std::atomic<std::uint32_t> busy_ = 0;
  std::mutex mutex_;
  std::exception_ptr error_;
};

/// The physical cores among the processors that this process may use, no more than its share of time.
int usable_cores();

/// The multiple of `granularity` at which part `index` of `parts` nearly equal parts of `size` begins.
constexpr std::int64_t part_begin(
    std::int64_t size, int index, int parts, std::int64_t granularity = 1)
{
  const std::int64_t units = (size + granularity - 1) / granularity;
  const std::int64_t at = units / parts * index + units % parts * index / parts;
  return index == parts ? size : at * granularity;
}

/// work(begin, end) for parts of 0 ... size, all threads at the same time.
template <typename Work>
void for_parts(ThreadTeam &team, std::int64_t size, Work &&work)
{
  team.run([&](int thread) {
    work(part_begin(size, thread, team.size()), part_begin(size, thread + 1, team.size()));
  });
}

/// The largest of value(begin, end) over parts of 0 ... size, all threads at the same time. Values are not NaN.
template <typename Value>
double largest_of_parts(ThreadTeam &team, std::int64_t size, Value &&value)
{
  struct alignas(64) Slot
  {
    double value = 0.;
  };
  std::vector<Slot> slots(static_cast<std::size_t>(team.size()));
  team.run([&](int thread) {
    slots[static_cast<std::size_t>(thread)].value =
        value(part_begin(size, thread, team.size()), part_begin(size, thread + 1, team.size()));
  });
  double largest = 0.;
  for (const Slot &slot : slots)
    largest = slot.value > largest ? slot.value : largest;
  return largest;
}
} // namespace tensormg
