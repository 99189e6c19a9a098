// The operator of the cycle with one metric per cell (kernels/laplace/cellmean/cellmean.h), on a level of curved cells.
#pragma once

#include <cstdint>

#include "kernels/core/array.h"
#include "kernels/laplace/cellmean/cellmean.h"
#include "operators/division/side_exchange.h"
#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/pointwise_operator.h"

namespace tensormg
{
template <typename Number>
class CellMeanKernel final : public BlockKernel<Number>
{
public:
  /// `level` must outlive the object. Collective over its ranks.
  explicit CellMeanKernel(const BlockLevels::Level &level);

  void run(const BlockStep<Number> &step) override;

  /// Of a level with these blocks of N^dim cells.
  static std::int64_t bytes(const Block &block, std::int64_t per_direction);

private:
  using C = Compute<Number>;
  void exchange_traces();

  const BlockLevels::Level &level_;
  Array<C> numbers_, traces_;
  SideExchange<C> exchange_; ///< of traces
  laplace::CellMeanArguments<Number> arguments_;
  laplace::ApplyCellMean<Number> *apply_;
};
} // namespace tensormg
