// When a restarted method has stopped to make progress.
#pragma once

#include <algorithm>
#include <cmath>

namespace tensormg
{
/// When the true residual fell by a tenth for the last time. Cycles may be short, by `restart` or by the limit of iterations: one of
/// them says nothing about stagnation.
struct Stagnation
{
  double residual;
  int iteration;

  /// Takes the true residual after a cycle that ended at iteration `now`. True if it has not fallen for long enough, or is not finite.
  bool has_come(double updated, int now, int restart)
  {
    constexpr int fewest = 10;
    if (updated > 0.9 * residual)
      return now - iteration >= std::max(restart, fewest);
    if (std::isfinite(updated))
      *this = {updated, now};
    return !std::isfinite(updated);
  }
};
} // namespace tensormg
