// The operator on curved cells of one level in one number type, in host memory.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>

#include "kernels/core/array.h"
#include "kernels/laplace/pointwise/half_metric.h"
#include "kernels/laplace/pointwise/pointwise.h"
#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/relaxation.h"
#include "operators/vectors/vector.h"
#include "operators/vectors/vector_space.h"

namespace tensormg
{
/// A LevelOperator (operators/multigrid/family.h), collective over the ranks of the level: B = A / scale of the level, D its diagonal or what a relaxation inverts.
/// Vectors in double take the metric in double, others in half precision: B has rounded G then, is symmetric and definite all the same. Where this does
/// not hold it (holds_in_half()) they take it in float.
template <typename Number>
class PointwiseOperator
{
public:
  using VectorType = Vector<Number>;

  /// `levels` must outlive the object. relaxation: nullptr is the diagonal.
  PointwiseOperator(const BlockLevels &levels, std::size_t l,
      std::shared_ptr<const LevelRelaxation> relaxation = nullptr);

  void vmult(VectorType &y, const VectorType &x);
  void residual(VectorType &r, const VectorType &x, const VectorType &b);
  void chebyshev_step(VectorType &y, const VectorType &x, const VectorType *old,
      const VectorType &b, double theta, double alpha);
  void inverse_diagonal(VectorType &x, const VectorType &b, double alpha) const;
  template <typename From>
  void convert_and_divide(
      double alpha, double scale, const Vector<From> &r, VectorType &b, VectorType &x) const
  {
    VectorSpace(level_.grid.block, MPI_COMM_SELF).convert(VectorSpace::scale(scale), r, b);
    inverse_diagonal(x, b, alpha);
  }
  bool has_pointwise_diagonal() const { return !relaxation_; }
  void update_cells() {} ///< they have what they have

  /// Of its metric beside that of the level, of traces, and of the diagonal or vectors of a step.
  static std::int64_t bytes(const BlockLevels::Level &level);

  VectorType make_vector() const { return VectorType(level_.grid.block); }
  const LevelGrid &level() const { return level_.grid; }

private:
  using C = Compute<Number>;
  /// Of y = B x or b - B x.
  laplace::PointwiseArguments<Number> arguments(
      VectorType &y, const VectorType &x, const VectorType *b);
  void exchange_traces();

  static constexpr bool is_double = std::is_same_v<C, double>;
  void set_numbers();

  const BlockLevels::Level &level_;
  std::optional<laplace::HalfMetric> in_half_;
  Array<C> volume_, face_, reaction_; ///< of float
  Array<C> traces_;
  SideExchange<C> exchange_; ///< of traces
  Array<C> inverse_diagonal_;
  laplace::PointwiseArguments<Number> arguments_;
  laplace::ApplyPointwise<Number> *apply_;
  std::optional<SeparableRelaxation<Number>> relaxation_;
  VectorType rest_, correction_; ///< b - B x of a step with a relaxation, and what this makes of it
};
} // namespace tensormg
