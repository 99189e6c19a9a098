#include "apps/compare/counters.h"

#include <algorithm>

#include "kernels/device/device.h"

namespace tensormg
{
std::optional<double> count_instructions(
    const counters::Use &use, double milliseconds, double peak_per_second)
{
  const auto issue = std::find_if(use.units.begin(), use.units.end(),
      [](const counters::Share &unit) { return unit.name == "issue"; });
  if (issue == use.units.end())
    return std::nullopt;
  return 1e-2 * issue->percent * 1e-3 * milliseconds * peak_per_second;
}

InstructionCounter::InstructionCounter(double peak_per_second)
  : peak_per_second_(peak_per_second)
{
  try
  {
    counters_ = std::make_unique<counters::Counters>();
  }
  catch (const DeviceError &error)
  {
    trouble_ = error.what();
  }
}

std::optional<double> InstructionCounter::per_run(
    Candidate &candidate, int runs, double milliseconds_per_run)
{
  constexpr double most_milliseconds = 50.;
  if (!counters_ || runs * milliseconds_per_run > most_milliseconds)
    return std::nullopt;
  try
  {
    double milliseconds = 0.;
    int passes = 0;
    const counters::Use use = counters_->measure([&] {
      const double time = candidate.milliseconds(runs);
      milliseconds += time;
      ++passes;
      return time;
    });
    counters_->switch_off();
    if (const auto counted = count_instructions(use, milliseconds / passes, peak_per_second_))
      return *counted / runs;
  }
  catch (const DeviceError &error)
  {
    trouble_ = error.what();
    counters_.reset();
  }
  return std::nullopt;
}
} // namespace tensormg
