// CONTRACT: how busy the parts of a device are with some work, by its hardware counters.
//
// A kernel that no model explains is explained by these: the part that is busiest, and what its warps wait for. By
// the range profiler of CUPTI, which is part of the CUDA toolkit (libcupti is loaded when it is needed): all launches
// between begin and end are one range, and the work is done once per pass, since not everything can be counted at a
// time. Nothing of the device is set, its clock neither.
// Source: CUPTI documentation, "Range Profiling API"; names of the metrics as in Nsight Compute.
// Test: tests/kernels/diagnostics/counters/device_test.cu.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device/device.h"

namespace tensormg::counters
{
struct Share
{
  std::string name; ///< "memory"
  double percent = 0.;
};

/// What was counted during some work.
struct Use
{
  /// Of what a part could do at most in the time of the work: "memory", "L2", "L1 and shared memory", "issue",
  /// "FP64", "FMA", "integer", "tensor"; those that the device counts.
  std::vector<Share> units;
  double resident_warps = 0.; ///< percent of the most, while multiprocessors had any
  /// Of the time of resident warps, the largest first: what they wait for ("memory", "barrier", ...), "issuing" and
  /// "another warp's turn". Sums up to 100 if all that was counted is listed.
  std::vector<Share> waits;
};

/// Of the current device. One at a time.
class Counters
{
public:
  /// Throws DeviceError: no CUPTI, a device that it does not know, or no permission (the driver's setting
  /// NVreg_RestrictProfilingToAdminUsers).
  Counters();
  ~Counters();
  Counters(const Counters &) = delete;
  Counters &operator=(const Counters &) = delete;

  /// `work` launches, waits and returns how many milliseconds its kernels took; it is called `passes()` times. Costs 70 ms beside
  /// it, and 0.15 s more where the profiler is off. Afterwards it is on, which makes launches slower (5 instead of 4 us on
  /// an H200). Throws DeviceError.
  Use measure(const std::function<double()> &work);
  void switch_off() noexcept;
  int passes() const;

private:
  struct Session;
  std::unique_ptr<Session> session_;
};

/// Percent from which a part counts as busy.
inline constexpr double busy_from = 80.;

/// The busiest of `units`, of which there must be one.
const Share &busiest(const Use &use);

/// "L1 and shared memory busy to 92 %", or if nothing is busy "nothing busy beyond 41 % (memory); 37 % of the most warps, their
/// time: waiting for global memory 62 %, ..." (the largest, and up to two more beyond 15 %).
std::string in_words(const Use &use);
} // namespace tensormg::counters
