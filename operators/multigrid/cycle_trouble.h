// Where the numbers of a cycle were not enough: read from the vectors that its last run left.
//
// In all functions max_abs(l, x) is the largest entry of a vector of level l of `multigrid` (solvers/multigrid.h), infinity
// if one is not finite, and level 0 of `multigrid` is level `coarsest` of the grid.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>

#include "kernels/core/half.h"

namespace tensormg
{
struct CycleTrouble
{
  std::size_t level; ///< of the grid: the one that computed what is wrong
  std::string what;  ///< before the word "of" and name_of_level()
};

/// For messages. l: of `count` levels, from the coarsest one.
inline std::string name_of_level(std::size_t l, std::size_t count)
{
  return "multigrid level " + std::to_string(l) + " (0 is the coarsest of " +
      std::to_string(count) + ")";
}

/// On the way to the coarsest level, finest first. A right-hand side is the residual of the level above.
template <typename Cycles, typename MaxAbs>
std::optional<CycleTrouble> not_finite_going_down(
    const Cycles &multigrid, const MaxAbs &max_abs, std::size_t coarsest)
{
  const std::size_t finest = multigrid.n_levels() - 1;
  if (!std::isfinite(max_abs(finest, multigrid.rhs(finest))))
    return CycleTrouble{coarsest + finest, "NaN or Inf in the right-hand side"};
  for (std::size_t l = finest; l-- > 0;)
    if (!std::isfinite(max_abs(l, multigrid.rhs(l))))
      return CycleTrouble{coarsest + l + 1, "NaN or Inf in the residual"};
  return std::nullopt;
}

/// On the way back, coarsest first. has_lower: other levels lie below, of longer numbers, whose result may not fit the
/// numbers here.
template <typename Cycles, typename MaxAbs>
std::optional<CycleTrouble> not_finite_going_up(
    const Cycles &multigrid, const MaxAbs &max_abs, std::size_t coarsest, bool has_lower)
{
  for (std::size_t l = 0; l < multigrid.n_levels(); ++l)
  {
    const auto *d = multigrid.correction(l);
    if (!std::isfinite(max_abs(l, multigrid.solution(l))) ||
        (d != nullptr && !std::isfinite(max_abs(l, *d))))
      return has_lower && l == 0 ? CycleTrouble{coarsest + 1, "NaN or Inf in the coarse correction"}
                                 : CycleTrouble{coarsest + l, "NaN or Inf in the correction"};
  }
  return std::nullopt;
}

/// The finest level whose residual is not zero, and whose restriction has nothing but numbers of fewer digits.
template <typename Number, typename Cycles, typename MaxAbs>
std::optional<CycleTrouble> underflow_going_down(
    const Cycles &multigrid, const MaxAbs &max_abs, std::size_t coarsest)
{
  double smallest = 0x1p-14; // of all digits
  if constexpr (!std::is_same_v<Number, Half>)
    smallest = static_cast<double>(std::numeric_limits<Number>::min());
  for (std::size_t l = multigrid.n_levels() - 1; l-- > 0;)
    if (const double largest = max_abs(l, multigrid.rhs(l)); largest < smallest)
    {
      if (!(max_abs(l + 1, multigrid.rhs(l + 1)) > 0.))
        return std::nullopt;
      std::ostringstream what;
      what << "underflow to at most " << largest << " in the residual";
      return CycleTrouble{coarsest + l + 1, what.str()};
    }
  return std::nullopt;
}
} // namespace tensormg
