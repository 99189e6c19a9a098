// The operator with the metric at points on one level, in one number type, in host memory.
#pragma once

#include <optional>
#include <type_traits>

#include "kernels/core/array.h"
#include "kernels/laplace/pointwise/half_metric.h"
#include "kernels/laplace/pointwise/pointwise.h"
#include "operators/curved/block_kernel.h"
#include "operators/pointwise/block_levels.h"

namespace tensormg
{
/// With the metric at points: for vectors in double in double, for others in half precision: B has rounded G then, is symmetric and definite all the same.
/// Where this does not hold it (holds_in_half()) they take it in float.
template <typename Number>
class PointwiseKernel final : public BlockKernel<Number>
{
public:
  /// `level` must outlive the object. Throws std::invalid_argument if it has one metric per cell.
  explicit PointwiseKernel(const BlockLevels::Level &level);

  void run(const BlockStep<Number> &step) override;

  /// Of its metric beside that of the level, and of traces.
  static std::int64_t bytes(const BlockLevels::Level &level);

private:
  using C = Compute<Number>;
  static constexpr bool is_double = std::is_same_v<C, double>;
  void set_numbers();
  void exchange_traces();

  const BlockLevels::Level &level_;
  std::optional<laplace::HalfMetric> in_half_;
  Array<C> volume_, face_, reaction_; ///< of float
  Array<C> traces_;
  SideExchange<C> exchange_; ///< of traces
  laplace::PointwiseArguments<Number> arguments_;
  laplace::ApplyPointwise<Number> *apply_;
};
} // namespace tensormg
