// The time that a diagnosis takes, and what of it a class of kernels may take.
#pragma once

#include <chrono>
#include <limits>

namespace tensormg::diagnose
{
/// Starts when it is made.
class RunClock
{
public:
  RunClock() = default;
  /// `limit` in seconds: what all classes together may take.
  explicit RunClock(double limit)
    : limit_(limit)
  {}

  /// Seconds since the begin of the run.
  double elapsed() const
  {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  /// A class begins. Of the time that is left it gets the part weight / weights, where `weights` is the sum over it
  /// and all later classes: what a class does not need goes to those behind it. Returns the seconds it gets.
  double begin_class(double weight, double weights)
  {
    const double now = elapsed();
    const double share = limit_ > now ? (limit_ - now) * weight / weights : 0.;
    deadline_ = now + share;
    return share;
  }

  /// The class has had its time: what has not begun is left out.
  bool is_spent() const { return elapsed() > deadline_; }

private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double limit_ = std::numeric_limits<double>::infinity();
  double deadline_ = std::numeric_limits<double>::infinity();
};
} // namespace tensormg::diagnose
