// The operator with one metric per cell (kernels/laplace/cellmean/cellmean.h): that of a level which has no other, or the mean of one at points.
#pragma once

#include <cstdint>

#include "kernels/core/array.h"
#include "kernels/laplace/cellmean/cellmean.h"
#include "operators/curved/block_kernel.h"
#include "operators/division/side_exchange.h"
#include "operators/pointwise/block_levels.h"

namespace tensormg
{
template <typename Number>
class CellMeanKernel final : public BlockKernel<Number>
{
public:
  /// `level` must outlive the object. Collective over its ranks.
  explicit CellMeanKernel(const BlockLevels::Level &level);

  void run(const BlockStep<Number> &step) override;

  /// Of its numbers beside those of the level, and of traces.
  static std::int64_t bytes(const BlockLevels::Level &level);

private:
  using C = Compute<Number>;
  const C *numbers();
  void exchange_traces();

  const BlockLevels::Level &level_;
  Array<C> numbers_; ///< empty: those of the level
  Array<C> traces_;
  SideExchange<C> exchange_; ///< of traces
  laplace::CellMeanArguments<Number> arguments_;
  laplace::ApplyCellMean<Number> *apply_;
};
} // namespace tensormg
