// Which operator the cycle has on curved cells.
#pragma once

#include <string>

#include "operators/curved/relaxation.h"
#include "operators/pointwise/block_levels.h"
#include "tensormg/options.h"

namespace tensormg
{
struct OperatorChoice
{
  bool is_cell_mean = false; ///< cell_means.h; otherwise that of the metric at points
  /// With one metric per cell it is the operator of the system, but for rounding.
  bool is_exact = false;
  std::string reason; ///< with the number that decided
};
/// On all ranks alike; collective. `relaxation`: of the finest level. Automatic: cell_mean where MetricVariation::within of the finest level is at most 2,
/// or where cells or lines are relaxed, which cost as much as the operator or more, at most 1.2. From there on the iterations that it takes more
/// cost what each of them saves. Harmonic averages at faces have the true metric: means know arithmetic ones.
OperatorChoice choose_operator(
    const BlockLevels &levels, CycleOperator asked, const RelaxationChoice &relaxation);
} // namespace tensormg
