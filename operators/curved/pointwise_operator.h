// B on curved cells of one level and the steps of its smoother, in one number type, in host or in device memory.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>

#include "kernels/core/array.h"
#include "operators/curved/block_kernel.h"
#include "operators/curved/device_relaxation.h"
#include "operators/curved/relaxation.h"
#include "operators/pointwise/block_levels.h"
#include "operators/vectors/context.h"

namespace tensormg
{
/// A LevelOperator (operators/multigrid/family.h), collective over the ranks of the level: B = A / scale of the level, D its diagonal or what a relaxation inverts.
template <typename Number, typename Context = HostContext>
class PointwiseOperator
{
  template <typename From>
  using Vector = typename Context::template Vector<From>;
  using Scale = typename Context::Space::Scale;

public:
  using VectorType = Vector<Number>;

  /// `levels` must outlive the object. relaxation: nullptr is the diagonal; kernel: nullptr is the one with the metric at points, for a level that has it.
  PointwiseOperator(const BlockLevels &levels, std::size_t l,
      std::shared_ptr<const LevelRelaxation> relaxation = nullptr,
      std::unique_ptr<BlockKernel<Number>> kernel = nullptr, Context context = {});

  void vmult(VectorType &y, const VectorType &x);
  void residual(VectorType &r, const VectorType &x, const VectorType &b);
  void chebyshev_step(VectorType &y, const VectorType &x, const VectorType *old,
      const VectorType &b, double theta, double alpha);
  void inverse_diagonal(VectorType &x, const VectorType &b, double alpha) const;
  template <typename From>
  void convert_and_divide(
      double alpha, Scale scale, const Vector<From> &r, VectorType &b, VectorType &x) const
  {
    context_.make_space(level_.grid.block, MPI_COMM_SELF).convert(scale, r, b);
    inverse_diagonal(x, b, alpha);
  }
  bool has_pointwise_diagonal() const { return !relaxation_; }
  void update_cells() {} ///< they have what they have

  VectorType make_vector() const
  {
    return context_.template make_vector<Number>(level_.grid.block);
  }
  const LevelGrid &level() const { return level_.grid; }

private:
  using C = Compute<Number>;
  using Diagonal = std::conditional_t<Context::on_device, DeviceArray<C>, Array<C>>;
  using Relaxation = std::conditional_t<Context::on_device, DeviceSeparableRelaxation<Number>,
      SeparableRelaxation<Number>>;
  void make_inverse_diagonal();
  /// y = x + theta (x - old) + correction_
  void add_correction(VectorType &y, const VectorType &x, const VectorType *old, double theta);

  const BlockLevels::Level &level_;
  Context context_;
  std::unique_ptr<BlockKernel<Number>> kernel_;
  Diagonal inverse_diagonal_;
  std::optional<Relaxation> relaxation_;
  VectorType rest_, correction_; ///< b - B x of a step with a relaxation, and what this makes of it
};
} // namespace tensormg
