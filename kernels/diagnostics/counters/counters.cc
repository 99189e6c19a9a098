#include <algorithm>
#include <cmath>

#include "kernels/diagnostics/counters/counters.h"

namespace tensormg::counters
{
namespace
{
  std::string percent(double value) { return std::to_string(std::lround(value)) + " %"; }
} // namespace

const Share &busiest(const Use &use)
{
  return *std::max_element(use.units.begin(), use.units.end(),
      [](const Share &a, const Share &b) { return a.percent < b.percent; });
}

std::string in_words(const Use &use)
{
  constexpr double worth_telling = 15.;
  constexpr std::size_t most_waits = 3;
  if (use.units.empty())
    return "nothing counted";
  const Share &unit = busiest(use);
  if (unit.percent >= busy_from)
    return unit.name + " busy to " + percent(unit.percent);
  std::string text = "nothing busy beyond " + percent(unit.percent) + " (" + unit.name + "); " +
      percent(use.resident_warps) + " of the most warps";
  for (std::size_t i = 0; i < std::min(most_waits, use.waits.size()); ++i)
    if (i == 0 || use.waits[i].percent >= worth_telling)
      text += std::string(i == 0 ? ", their time: " : ", ") + use.waits[i].name + ' ' +
          percent(use.waits[i].percent);
  return text;
}

// With CUPTI, cupti.cu has these.
#if !defined(TENSORMG_HAVE_CUPTI)
struct Counters::Session
{};

Counters::Counters()
{
  throw DeviceError(device_count() == 0
          ? "no device: " + why_no_device()
          : "this build has no CUPTI, whose headers were not found beside the CUDA toolkit");
}
Counters::~Counters() = default;
Use Counters::measure(const std::function<double()> &) { return {}; }
void Counters::switch_off() noexcept {}
int Counters::passes() const { return 0; }
#endif
} // namespace tensormg::counters
