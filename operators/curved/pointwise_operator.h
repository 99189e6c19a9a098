// The operator on curved cells of one level in one number type, in host memory.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>

#include "kernels/core/array.h"
#include "kernels/laplace/pointwise/half_metric.h"
#include "kernels/laplace/pointwise/pointwise.h"
#include "operators/curved/relaxation.h"
#include "operators/pointwise/block_levels.h"
#include "operators/vectors/vector.h"
#include "operators/vectors/vector_space.h"

namespace tensormg
{
/// dst = A src; with b: b - A src; with inverse_diagonal, too: the step of kernels/laplace/pointwise/pointwise.h. nullptr: none.
template <typename Number>
struct BlockStep
{
  const Number *src = nullptr;
  Number *dst = nullptr;
  const Number *b = nullptr;
  const Compute<Number> *inverse_diagonal = nullptr;
  const Number *old = nullptr;
  Compute<Number> theta{}, alpha{};
};
/// A of a level, with the memory that it needs. run() is collective over the ranks of the level.
template <typename Number>
class BlockKernel
{
public:
  BlockKernel() = default;
  BlockKernel(const BlockKernel &) = delete;
  BlockKernel &operator=(const BlockKernel &) = delete;
  virtual ~BlockKernel() = default;
  virtual void run(const BlockStep<Number> &step) = 0;
};

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

/// A LevelOperator (operators/multigrid/family.h), collective over the ranks of the level: B = A / scale of the level, D its diagonal or what a relaxation inverts.
template <typename Number>
class PointwiseOperator
{
public:
  using VectorType = Vector<Number>;

  /// `levels` must outlive the object. relaxation: nullptr is the diagonal; kernel: nullptr is PointwiseKernel, for a level that has the metric at points.
  PointwiseOperator(const BlockLevels &levels, std::size_t l,
      std::shared_ptr<const LevelRelaxation> relaxation = nullptr,
      std::unique_ptr<BlockKernel<Number>> kernel = nullptr);

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

  VectorType make_vector() const { return VectorType(level_.grid.block); }
  const LevelGrid &level() const { return level_.grid; }

private:
  using C = Compute<Number>;
  const BlockLevels::Level &level_;
  std::unique_ptr<BlockKernel<Number>> kernel_;
  Array<C> inverse_diagonal_;
  std::optional<SeparableRelaxation<Number>> relaxation_;
  VectorType rest_, correction_; ///< b - B x of a step with a relaxation, and what this makes of it
};
} // namespace tensormg
