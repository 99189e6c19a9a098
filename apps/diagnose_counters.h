// What bounds the kernels of a device that no prediction explains: its hardware counters, read while they run once more.
#pragma once

#include <memory>
#include <string>

#include "apps/diagnose.h"
#include "apps/diagnose_table.h"
#include "kernels/counters/counters.h"

namespace tensormg::diagnose
{
/// The counters of one run of the program.
class RunCounters
{
public:
  /// Without counters where they are not wanted; where there are none, trouble() says why.
  explicit RunCounters(bool wanted);

  /// Runs a measured kernel of the device once more per pass, for about a millisecond each. If that does not work, nothing is counted
  /// from then on.
  void count(Entry &entry, Candidate &candidate);

  const std::string &trouble() const { return trouble_; }

private:
  std::unique_ptr<counters::Counters> counters_;
  std::string trouble_;
};

/// A line below an entry's, or nothing: what the counters say of a kernel whose time its bounds do not explain.
std::string counters_text(const Entry &entry, const Prediction &prediction);

/// How many kernels each bound of theory explains, and what the counters say of the others; empty without counters.
std::string bounds_text(const Diagnosis &diagnosis);
} // namespace tensormg::diagnose
