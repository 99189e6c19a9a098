// The SIPG Laplace operator on one level, in one number type, through one backend.
#pragma once

#include <memory>

#include "kernels/laplace/laplace.h"
#include "operators/constant/line_inverse.h"
#include "operators/mesh/ghost_exchange.h"
#include "operators/mesh/grid.h"
#include "operators/mesh/row_split.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// The dimensionless operator B of kernels/laplace/laplace.h on a level that may be distributed. All
/// functions are collective over the level's communicator.
///
/// Every application overlaps its messages with work: the traces of src at sides of other ranks are packed and
/// sent; the rows of cells that do not touch such a side are computed, with a look at the messages after each
/// layer; then the rest, one cell thick at each of these sides (split_rows()). The result has the same bits as
/// with everything computed after the exchange. What does not overlap: packing, and blocks without interior.
template <typename Number>
class LaplaceOperator
{
public:
  using VectorType = Vector<Number>;

  /// `level` and `basis` must outlive the operator. With `exact`, D is exact in the exact
  /// directions of the level, if it has any.
  LaplaceOperator(const LevelGrid &level, const CellBasis &basis, laplace::Backend backend,
      LineSpectra *exact = nullptr);

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
  /// Whether D is the diagonal of the cell blocks, so that D^-1 is a scaling.
  bool has_pointwise_diagonal() const { return lines_ == nullptr; }

  VectorType make_vector() const { return VectorType(level_.block); }
  const LevelGrid &level() const { return level_; }
  const CellBasis &basis() const { return basis_; }
  laplace::Backend backend() const { return backend_; }
  /// Of all applications so far, on this rank.
  const ExchangeTimes &exchange_times() const { return exchange_.times(); }

private:
  void run(laplace::Form form, laplace::Arguments<Number> &arguments);

  const LevelGrid &level_;
  const CellBasis &basis_;
  laplace::Backend backend_;
  std::array<laplace::Apply<Number> *, 3> kernels_{};
  GhostExchange<Number> exchange_;
  RowSplit split_;
  laplace::Arguments<Number> arguments_;
  /// If D has exact directions. Of numbers without steps: never.
  std::unique_ptr<LineInverse<StepNumber<Number>, HostLines>> lines_;
  VectorType rest_; ///< b - B src of a step with lines
};

extern template class LaplaceOperator<double>;
extern template class LaplaceOperator<float>;
extern template class LaplaceOperator<Half>;
extern template class LaplaceOperator<WideFloat>;
} // namespace tensormg
