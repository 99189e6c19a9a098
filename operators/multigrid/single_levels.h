// Levels in single precision below levels whose numbers are shorter (MultigridOptions::single_levels).
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "solvers/smoother.h"
#include "tensormg/options.h"

namespace tensormg
{
/// How many of the levels are in single because of `single_levels`; at least the finest one is not.
inline std::size_t levels_in_single(std::size_t levels, const MultigridOptions &options)
{
  if (!options.is_below_single())
    return 0;
  return std::min(static_cast<std::size_t>(std::max(options.single_levels, 0)), levels - 1);
}

/// The choices of the hierarchy of these levels.
inline MultigridOptions options_in_single(MultigridOptions options)
{
  options.precision = Precision::single_precision;
  options.single_levels = 0;
  return options;
}

/// One cycle of a hierarchy in single as the coarse solver of another one, in whose vectors it leaves the sum of two.
template <typename VectorType, typename Hierarchy>
class CycleInSingle : public CoarseSolverBase<VectorType>
{
public:
  /// hierarchy must outlive the object.
  CycleInSingle(Hierarchy &hierarchy, Cycle kind)
    : hierarchy_(hierarchy)
    , kind_(kind)
  {}

  void solve(VectorType & /*x*/, const VectorType & /*b*/) override
  {
    throw std::logic_error("levels in single give a pair of vectors");
  }
  bool gives_pair() const override { return true; }
  void solve_pair(VectorType &x, VectorType &d, const VectorType &b) override
  {
    hierarchy_.cycle_within(x, d, b, kind_);
  }

private:
  Hierarchy &hierarchy_;
  Cycle kind_;
};
} // namespace tensormg
