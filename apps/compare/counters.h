// What kernels of a device take of its instruction slots: hardware counters, read while a kernel runs once more.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apps/compare/table.h"
#include "kernels/diagnostics/counters/counters.h"

namespace tensormg
{
/// Instructions, of one thread each, that some work of this many milliseconds has started: the part of its time in
/// which multiprocessors start one (`use`), at the rate at which they start them all the time. The latter is that of the
/// peak kernel, so what is exact is the time that instructions alone would need; their number is as uncertain as the
/// clock is. Unknown if the device does not count that.
std::optional<double> count_instructions(
    const counters::Use &use, double milliseconds, double peak_per_second);

/// Reads the counters of the current device for one entry after the other.
class InstructionCounter
{
public:
  /// Where there are no counters, trouble() says why. `peak_per_second`: instructions of one thread each.
  explicit InstructionCounter(double peak_per_second);

  /// Instructions of one run. It is repeated some ten times, `runs` runs each; more than 50 ms of them are not counted.
  /// Nothing if that is not possible, and never again after an error of the device. Counters are off when it returns, as
  /// launches are slower with them.
  std::optional<double> per_run(Candidate &candidate, int runs, double milliseconds_per_run);

  const std::string &trouble() const { return trouble_; }

private:
  double peak_per_second_;
  std::unique_ptr<counters::Counters> counters_;
  std::string trouble_;
};
} // namespace tensormg
