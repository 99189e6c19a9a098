#include "apps/diagnose/counters.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "apps/diagnose/bounds.h"
#include "kernels/device/device.h"

namespace tensormg::diagnose
{
namespace
{
  /// One pass: what happens between launches counts as well, so there are many of short kernels.
  constexpr double pass_milliseconds = 1.;
  constexpr double most_runs = 200.;
  /// Of a kernel that is counted: there are about ten passes.
  constexpr double most_milliseconds = 50.;

  /// A part that is busy, or what takes most of the time of the warps.
  struct Finding
  {
    bool is_busy;
    std::string name;
  };
  Finding finding_of(const Entry &entry)
  {
    if (!entry.counters || entry.counters->units.empty())
      return {false, "not counted"};
    if (const counters::Share &unit = counters::busiest(*entry.counters);
        unit.percent >= counters::busy_from)
      return {true, unit.name};
    return {false, entry.counters->waits.empty() ? "unknown" : entry.counters->waits.front().name};
  }

  /// "memory 3, L2 1", the most frequent first.
  std::string list_of(const std::map<std::string, int> &numbers)
  {
    std::vector<std::pair<int, std::string>> sorted;
    for (const auto &[name, number] : numbers)
      sorted.emplace_back(-number, name);
    std::sort(sorted.begin(), sorted.end());
    std::string text;
    for (const auto &[number, name] : sorted)
      text += (text.empty() ? "" : ", ") + name + ' ' + std::to_string(-number);
    return text.empty() ? std::string("none") : text;
  }
} // namespace

RunCounters::RunCounters(bool wanted)
{
  if (wanted && device_count() > 0)
    try
    {
      counters_ = std::make_unique<counters::Counters>();
      least_free_ = device_properties().memory_bytes / 4 * 3;
    }
    catch (const DeviceError &error)
    {
      trouble_ = error.what();
    }
}

void RunCounters::keep(std::unique_ptr<Candidate> candidate, const Diagnosis &diagnosis)
{
  const Entry &entry = diagnosis.entries.back();
  if (counters_ && candidate && entry.place == Place::device &&
      entry.outcome == Outcome::measured && entry.time.median <= most_milliseconds &&
      !reaches_target(entry, predict(entry, diagnosis.machine(entry.place))))
    waiting_.push_back({diagnosis.entries.size() - 1, std::move(candidate)});
}

bool RunCounters::are_large() const
{
  return !waiting_.empty() && free_device_bytes() < least_free_;
}

std::string RunCounters::count(Diagnosis &diagnosis)
{
  std::string text;
  for (Waiting &waiting : waiting_)
  {
    Entry &entry = diagnosis.entries[waiting.entry];
    const double runs =
        std::clamp(pass_milliseconds / std::max(entry.time.median, 1e-6), 1., most_runs);
    try
    {
      if (counters_)
        entry.counters = counters_->measure(
            [&] { return waiting.candidate->milliseconds(static_cast<int>(runs)); });
    }
    catch (const DeviceError &error)
    {
      trouble_ = error.what();
      counters_.reset();
    }
    if (entry.counters)
      text += (text.empty() ? "    counters, below 90 % of what theory allows\n      " : "      ") +
          entry.kernel + ' ' + entry.precision + ": " + counters::in_words(*entry.counters) + '\n';
    waiting.candidate.reset();
  }
  waiting_.clear();
  if (counters_)
    counters_->switch_off();
  return text;
}

std::string bounds_text(const Diagnosis &diagnosis)
{
  std::map<std::string, int> by_theory, below_target, by_counters, by_waits;
  for (const Entry &entry : diagnosis.entries)
    if (entry.outcome == Outcome::measured && entry.place == Place::device)
    {
      const Prediction prediction = predict(entry, diagnosis.machine(entry.place));
      const Finding found = finding_of(entry);
      if (const char *const bound = bound_that_holds(entry, prediction))
      {
        ++by_theory[bound];
        if (!reaches_target(entry, prediction))
          ++below_target[found.name + (found.is_busy ? " busy" : "")];
      }
      else
        ++(found.is_busy ? by_counters : by_waits)[found.name];
    }
  std::string trouble = diagnosis.no_counters.empty()
      ? ""
      : "\nbounds       not all are known: " + diagnosis.no_counters + '\n';
  if (std::none_of(diagnosis.entries.begin(), diagnosis.entries.end(),
          [](const Entry &entry) { return entry.counters.has_value(); }))
    return trouble;
  return trouble +
      "\nbounds       of the device's kernels, by number\n  theory explains at least 80 % of the time: " +
      list_of(by_theory) +
      "\n  of these, where it explains less than 90 %, what the counters say: " +
      list_of(below_target) +
      "\n  of the others, a part is busy to at least 80 % (hardware counters): " +
      list_of(by_counters) +
      "\n  of the rest, what takes most of the time of their warps: " + list_of(by_waits) + '\n';
}
} // namespace tensormg::diagnose
