#include "apps/diagnose_counters.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "kernels/core/device.h"

namespace tensormg::diagnose
{
namespace
{
  /// One pass: what happens between launches counts as well, so there are many of short kernels.
  constexpr double pass_milliseconds = 1.;
  constexpr int most_runs = 200;

  bool is_explained(const Entry &entry, const Prediction &prediction)
  {
    return prediction.at_clock() >= bound_holds_from * entry.time.median;
  }
} // namespace

RunCounters::RunCounters(bool wanted)
{
  if (wanted && device_count() > 0)
    try
    {
      counters_ = std::make_unique<counters::Counters>();
    }
    catch (const DeviceError &error)
    {
      trouble_ = error.what();
    }
}

void RunCounters::count(Entry &entry, Candidate &candidate)
{
  if (!counters_ || entry.place != Place::device || entry.outcome != Outcome::measured)
    return;
  const double runs = std::max(1., pass_milliseconds / std::max(entry.time.median, 1e-6));
  const int count = static_cast<int>(std::min<double>(most_runs, runs));
  try
  {
    entry.counters = counters_->measure([&] { candidate.milliseconds(count); });
  }
  catch (const DeviceError &error)
  {
    trouble_ = error.what();
    counters_.reset();
  }
}

std::string counters_text(const Entry &entry, const Prediction &prediction)
{
  if (!entry.counters || is_explained(entry, prediction))
    return "";
  return "        counters: " + counters::in_words(*entry.counters) + '\n';
}

std::string bounds_text(const Diagnosis &diagnosis)
{
  std::map<std::string, int> by_theory, by_counters, by_waits;
  for (const Entry &entry : diagnosis.entries)
    if (entry.counters && !entry.counters->units.empty())
    {
      const Prediction prediction = predict(entry, diagnosis.machine(entry.place));
      const counters::Share &busiest = counters::busiest(*entry.counters);
      if (is_explained(entry, prediction))
        ++by_theory[prediction.bound()];
      else if (busiest.percent >= counters::busy_from)
        ++by_counters[busiest.name];
      else
        ++by_waits[entry.counters->waits.empty() ? "unknown" : entry.counters->waits.front().name];
    }
  const auto list = [](const std::map<std::string, int> &numbers) {
    std::vector<std::pair<int, std::string>> sorted;
    for (const auto &[name, number] : numbers)
      sorted.emplace_back(-number, name);
    std::sort(sorted.begin(), sorted.end());
    std::string text;
    for (const auto &[number, name] : sorted)
      text += (text.empty() ? "" : ", ") + name + ' ' + std::to_string(-number);
    return text.empty() ? std::string("none") : text;
  };
  const std::string trouble = diagnosis.no_counters.empty()
      ? ""
      : "\nbounds       not all are known: " + diagnosis.no_counters + '\n';
  if (by_theory.empty() && by_counters.empty() && by_waits.empty())
    return trouble;
  return trouble +
      "\nbounds       of the device's kernels, by number\n  theory explains at least 80 % of the time: " +
      list(by_theory) + "\n  of the others, a part is busy to at least 80 % (hardware counters): " +
      list(by_counters) +
      "\n  of the rest, what takes most of the time of their warps: " + list(by_waits) + '\n';
}
} // namespace tensormg::diagnose
