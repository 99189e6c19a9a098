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
} // namespace tensormg
