// The SIPG Laplace operator on one level, in one number type, through one backend, in host or in device memory.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <type_traits>

#include "kernels/laplace/laplace.h"
#include "operators/constant/line_inverse.h"
#include "operators/constant/side_traces.h"
#include "operators/mesh/cell_numbers.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/context.h"

namespace tensormg
{
/// How the steps of a smoother are computed, where it is not as everything else.
struct StepOptions
{
  /// What Chebyshev steps are computed in; the backend `automatic` then takes mma for them. On a device only.
  std::optional<laplace::Arithmetic> arithmetic = std::nullopt;
  /// D is exact in the exact directions of the level, if it has any.
  LineSpectra *exact = nullptr;
};

/// The dimensionless operator B of kernels/laplace/laplace.h on a level that may be distributed; where cells have numbers of their own,
/// that of kernels/laplace/cellwise/cellwise.h. All functions are
/// collective over the level's communicator; in device memory they are queued in the stream of the context.
template <typename Number, typename Context = HostContext>
class LaplaceOperator
{
  template <typename From>
  using Vector = typename Context::template Vector<From>;
  using Scale = typename Context::Space::Scale;

public:
  using VectorType = Vector<Number>;

  /// `backend` = automatic takes fastest_device_backend() for each form (laplace::choose()). `level` and `basis` must outlive
  /// the operator. Throws std::invalid_argument unless `backend` is one for the memory of the context that has these kernels.
  LaplaceOperator(const LevelGrid &level, const CellBasis &basis, laplace::Backend backend,
      Context context = {}, const StepOptions &steps = {});

  // Of numbers without every form (laplace.h) there is vmult() alone.
  /// dst = B src
  void vmult(VectorType &dst, const VectorType &src);
  /// dst = b - B src
  void residual(VectorType &dst, const VectorType &src,
      const VectorType &b) requires laplace::has_every_form<Number>;
  /// dst = src + theta (src - old) + alpha D^-1 (b - B src). dst and old may be the same vector;
  /// old = nullptr is the zero vector.
  void chebyshev_step(VectorType &dst, const VectorType &src, const VectorType *old,
      const VectorType &b, double theta, double alpha) requires laplace::has_every_form<Number>;
  /// dst = alpha D^-1 b; dst may be b
  void inverse_diagonal(VectorType &dst, const VectorType &b,
      double alpha) const requires laplace::has_every_form<Number>;
  /// b = scale src, rounded, and x = alpha D^-1 b: the first step of a smoother from zero, where D is the pointwise diagonal.
  template <typename From>
  void convert_and_divide(double alpha, Scale scale, const Vector<From> &src, VectorType &b,
      VectorType &x) const requires laplace::has_every_form<Number>;
  /// Whether D is the diagonal of the cell blocks, so that D^-1 is a scaling.
  bool has_pointwise_diagonal() const { return lines_ == nullptr && numbers_ == nullptr; }

  /// The cells of the level have other numbers now.
  void update_cells();
  /// Those of a level whose cells have some.
  const laplace::CellNumbers<Compute<Number>> &cell_numbers() const { return numbers_->view(); }

  VectorType make_vector() const { return context_.template make_vector<Number>(level_.block); }
  const LevelGrid &level() const { return level_; }
  const CellBasis &basis() const { return basis_; }
  laplace::Backend backend() const { return backend_; }

  /// What an operator with exact directions holds besides its traces.
  static std::int64_t bytes(const LevelGrid &level);

private:
  void take_cells();
  void run(laplace::Form form, const laplace::Arguments<Number> &arguments);
  std::array<double, 3> factors() const { return arguments_.factor; }

  const LevelGrid &level_;
  const CellBasis &basis_;
  laplace::Backend backend_;
  Context context_;
  std::array<laplace::Choice<Number>, 3> kernels_{};
  /// Where cells have numbers of their own, with the kernels for these.
  using CellNumbersHere = std::conditional_t<Context::on_device, DeviceCellNumbers<Compute<Number>>,
      CellNumbersOf<Compute<Number>>>;
  std::unique_ptr<CellNumbersHere> numbers_;
  std::array<laplace::ApplyCellwise<Number> *, 3> cellwise_kernels_{};
  laplace::Arguments<Number> arguments_;
  SideTraces<Number, Context> sides_;
  /// If D has exact directions. Of numbers without steps: never.
  std::unique_ptr<LineInverse<StepNumber<Number>, Context>> lines_;
  VectorType rest_; ///< b - B src of a step with lines
};
} // namespace tensormg
