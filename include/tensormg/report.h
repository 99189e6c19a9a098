// How a solve ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tensormg
{
enum class StopReason : std::uint8_t
{
  converged,
  iteration_limit,
  stagnated,                 ///< the true residual no longer falls, or disagrees with the estimate
  not_finite,                ///< NaN or Inf appeared; `detail` names the level and the quantity
  indefinite_preconditioner, ///< cg met z'r <= 0, or p'Ap <= 0
};

/// What a method makes of the x that it is given.
enum class Start : std::uint8_t
{
  zero,           ///< it is zero, which saves the first residual
  given,          ///< the iteration starts from it
  given_if_better ///< likewise, unless the residual of zero is smaller
};

/// The word for run.json and the screen: "converged", "iteration_limit", ...
const char *to_string(StopReason reason);

/// Exit code of the program: converged 0, iteration_limit 3, stagnated 4, not_finite 5,
/// indefinite_preconditioner 6. (1 is an unexpected error, 2 a usage or parameter error.)
int exit_code(StopReason reason);

/// A number for a message, "1.23e-09".
std::string number_text(double value);

struct SolveReport
{
  StopReason reason = StopReason::iteration_limit;
  std::string detail;   ///< one sentence for a person; empty if converged
  double rhs_norm = 0.; ///< 2-norm of b
  int iterations = 0;
  /// 2-norms of the residual as the method sees it, start value first (iterations + 1 entries).
  std::vector<double> residuals;
  /// ||b - A x|| / ||b|| evaluated in FP64 after the last iteration.
  double true_relative_residual = 0.;
  double seconds = 0.;
  bool dropped_start = false; ///< Start::given_if_better, and it was not
  /// Not converged, but the residual is what rounding the solution to double precision leaves.
  bool is_rounding = false;
  /// What was wrong in the precision of the options, if the solve went on with levels in single.
  std::string precision_fallback;
  /// Why the solve went on with another cycle, if it did (docs/solver.md); iterations and residuals are those of all since it began.
  std::string cycle_change;
  bool converged() const { return reason == StopReason::converged; }
  /// Geometric mean reduction per iteration.
  double mean_reduction() const;
};
} // namespace tensormg
