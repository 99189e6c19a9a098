// What bounds the kernels of a device that do not reach their prediction: its hardware counters, read while they run once more.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/diagnose/diagnose.h"
#include "apps/diagnose/table.h"
#include "kernels/diagnostics/counters/counters.h"

namespace tensormg::diagnose
{
/// The counters of one run of the program. As launches are slower while they are read, and switching takes longer than reading, kernels
/// of a problem are timed first and counted together.
class RunCounters
{
public:
  /// Without counters where they are not wanted; where there are none, trouble() says why.
  explicit RunCounters(bool wanted);

  /// Keeps the candidate of the last entry for count(), if it is a measured one of the device that is over in 50 ms and does not reach
  /// what it should of its best prediction.
  void keep(std::unique_ptr<Candidate> candidate, const Diagnosis &diagnosis);

  /// Whether candidates wait that take memory.
  bool are_waiting() const { return !waiting_.empty(); }
  /// Whether less than three quarters of the device's memory are free, so that they should not wait any longer.
  bool are_large() const;

  /// Counts what the kernels that wait do: each runs once more per pass, for about a millisecond. If that does not work, nothing is
  /// counted from then on. Returns what was counted, a line each.
  std::string count(Diagnosis &diagnosis);

  const std::string &trouble() const { return trouble_; }

private:
  struct Waiting
  {
    std::size_t entry; ///< of the diagnosis
    std::unique_ptr<Candidate> candidate;
  };

  std::unique_ptr<counters::Counters> counters_;
  std::vector<Waiting> waiting_;
  std::int64_t least_free_ = 0;
  std::string trouble_;
};

/// How many kernels each bound of theory explains, and what the counters say of those between a bound that holds and the target,
/// and of the others; empty without counters.
std::string bounds_text(const Diagnosis &diagnosis);
} // namespace tensormg::diagnose
