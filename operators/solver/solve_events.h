// Who follows a solve, and what it may tell of its error.
#pragma once

#include <functional>
#include <string>

#include "solvers/concepts.h"
#include "tensormg/options.h"

namespace tensormg
{
/// Who wants to know of a solve, and when; all may be empty.
struct SolveEvents
{
  IterationCallback iteration;
  /// Everything is set up, and nothing of the solve has begun.
  std::function<void()> begins;
  /// What the solve has asked for is done.
  std::function<void()> has_ended;
  /// Throws, on all ranks, if memory does not suffice for a solve with these options beside bytes_kept(), when the rest has been given back.
  std::function<void(const SolverOptions &options)> check_memory;
  /// The solve will be set up and begin once more, or go on, for the reason in the text.
  std::function<void(const std::string &text)> restarts;
  /// Of Start::given: writes the x of the begin again.
  std::function<void()> restore_start;
};

/// ||e|| and (e'Be)^(1/2) of the error e of x, from B e = b - B x by one cycle: right up to its reduction factor.
struct ErrorEstimate
{
  double norm = 0., energy = 0.;
};
} // namespace tensormg
