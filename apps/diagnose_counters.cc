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
  constexpr double most_runs = 200.;
  /// Of a kernel that is counted: there are about ten passes.
  constexpr double most_milliseconds = 50.;

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
      !is_explained(entry, predict(entry, diagnosis.machine(entry.place))))
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
      text += (text.empty() ? "    counters, where no bound explains the time\n      " : "      ") +
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
  std::map<std::string, int> by_theory, by_counters, by_waits;
  for (const Entry &entry : diagnosis.entries)
    if (entry.outcome == Outcome::measured && entry.place == Place::device)
    {
      const Prediction prediction = predict(entry, diagnosis.machine(entry.place));
      if (is_explained(entry, prediction))
        ++by_theory[prediction.bound()];
      else if (!entry.counters || entry.counters->units.empty())
        ++by_waits["not counted"];
      else if (const counters::Share &unit = counters::busiest(*entry.counters);
               unit.percent >= counters::busy_from)
        ++by_counters[unit.name];
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
  std::string trouble = diagnosis.no_counters.empty()
      ? ""
      : "\nbounds       not all are known: " + diagnosis.no_counters + '\n';
  if (std::none_of(diagnosis.entries.begin(), diagnosis.entries.end(),
          [](const Entry &entry) { return entry.counters.has_value(); }))
    return trouble;
  return trouble +
      "\nbounds       of the device's kernels, by number\n  theory explains at least 80 % of the time: " +
      list(by_theory) + "\n  of the others, a part is busy to at least 80 % (hardware counters): " +
      list(by_counters) +
      "\n  of the rest, what takes most of the time of their warps: " + list(by_waits) + '\n';
}
} // namespace tensormg::diagnose
