#include "operators/cellmean/operator_choice.h"

#include "operators/cellmean/cell_means.h"
#include "tensormg/report.h"

namespace tensormg
{
OperatorChoice choose_operator(
    const BlockLevels &levels, CycleOperator asked, const RelaxationChoice &relaxation)
{
  constexpr double rounding = 1e-12;
  const double most_variation = relaxation.cells || relaxation.lines ? 1.2 : 2.;
  const char *const same = "it is the same everywhere in a cell";
  if (levels.levels().back().has_one_metric_per_cell())
    return {true, true, same};
  if (asked == CycleOperator::true_metric)
    return {false, false, "as asked for"};
  const MetricVariation variation = metric_variation(levels.levels().back());
  const bool is_exact = variation.deviation <= rounding;
  if (is_exact)
    return {true, true, same};
  if (asked == CycleOperator::cell_mean)
    return {true, false, "as asked for"};
  if (levels.averages() == FaceAverage::harmonic)
    return {false, false, "faces have harmonic averages"};
  return {variation.within <= most_variation, false,
      "it varies in a cell by up to " + number_text(variation.within)};
}
} // namespace tensormg
