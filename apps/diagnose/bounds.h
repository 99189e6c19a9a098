// Which bound of theory explains the time of a kernel: what screen, files, page and counters go by.
#pragma once

#include "apps/diagnose/diagnose.h"

namespace tensormg::diagnose
{
/// The part of the time that the tightest bound explains, at the clock that the kernel ran at.
inline double explained_part(const Entry &entry, const Prediction &prediction)
{
  return prediction.at_clock() / entry.time.median;
}

/// The bound that explains at least bound_holds_from of the time: "memory", "arithmetic", "shared memory", or "clock" if one of
/// these does only at the clock that the kernel ran at; nullptr: none.
inline const char *bound_that_holds(const Entry &entry, const Prediction &prediction)
{
  return prediction.overlapped() >= bound_holds_from * entry.time.median ? prediction.bound()
      : explained_part(entry, prediction) >= bound_holds_from            ? "clock"
                                                                         : nullptr;
}

/// The same, and of a kernel at no bound the one that is nearest.
inline const char *nearest_bound(const Entry &entry, const Prediction &prediction)
{
  const char *const bound = bound_that_holds(entry, prediction);
  return bound != nullptr ? bound : prediction.bound();
}

/// Whether the time is as near to its best prediction as it should be: what is missing beyond that the counters are asked for.
inline bool reaches_target(const Entry &entry, const Prediction &prediction)
{
  return explained_part(entry, prediction) >= target;
}
} // namespace tensormg::diagnose
