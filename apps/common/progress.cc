#include "apps/common/progress.h"

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>

namespace tensormg
{
class Progress::Watch
{
public:
  Watch(Say say, double seconds)
    : say_(std::move(say))
    , interval_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)))
    , thread_([this] { run(); })
  {}
  ~Watch()
  {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;

  void begin(const std::string &step)
  {
    const std::lock_guard lock(mutex_);
    step_ = step;
    begin_ = Clock::now();
  }
  void rest()
  {
    const std::lock_guard lock(mutex_);
    said_ = Clock::now();
  }

private:
  using Clock = std::chrono::steady_clock;

  void run()
  {
    std::unique_lock lock(mutex_);
    while (!ends_)
    {
      changed_.wait_until(lock, said_ + interval_);
      if (ends_ || Clock::now() < said_ + interval_)
        continue;
      said_ = Clock::now();
      if (step_.empty())
        continue;
      const auto seconds = std::lround(std::chrono::duration<double>(said_ - begin_).count());
      say_("tensormg: ... " + step_ +
          (seconds > 0 ? " (" + std::to_string(seconds) + " s)\n" : "\n"));
    }
  }

  Say say_;
  Clock::duration interval_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::string step_;
  Clock::time_point begin_ = Clock::now(), said_ = begin_;
  std::thread thread_; // begins when all others are there
};

Progress::Progress(Say say, double seconds)
  : watch_(std::make_shared<Watch>(std::move(say), seconds))
{}

Progress Progress::on_screen(bool is_quiet)
{
  return is_quiet ? Progress()
                  : Progress([](const std::string &line) { std::fputs(line.c_str(), stderr); });
}

void Progress::begin(const std::string &step)
{
  if (watch_ != nullptr)
    watch_->begin(step);
}

void Progress::rest()
{
  if (watch_ != nullptr)
    watch_->rest();
}
} // namespace tensormg
