// Prolongation and restriction between two levels that may be distributed differently.
#pragma once

#include <vector>

#include "kernels/laplace/laplace.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// Transfer between `fine` and the next coarser level. Where the fine level is distributed and the
/// coarse one replicated, the coarse right-hand side is gathered on every rank. Collective.
template <typename Number>
class TransferOperator
{
public:
  /// All arguments must outlive the object.
  TransferOperator(const LevelGrid &fine, const LevelGrid &coarse, const CellBasis &basis,
      laplace::Backend backend);

  /// coarse = factor * R fine, R the L2 projection
  void restrict_to(Vector<Number> &coarse, const Vector<Number> &fine, double factor);
  /// fine = factor * P coarse, or fine += ...
  void prolongate(Vector<Number> &fine, const Vector<Number> &coarse, double factor, bool add);
  /// The same for pairs whose sums count: x + d = factor * P (coarse + *rest), or that is added to x, or to x
  /// + d. x is the rounded sum, d what rounding took away. rest = nullptr is zero.
  void prolongate_pair(Vector<Number> &x, Vector<Number> &d, const Vector<Number> &coarse,
      const Vector<Number> *rest, double factor, bool add, bool add_rest);

private:
  void gather(Vector<Number> &coarse) const;
  void extract(const Vector<Number> &coarse, Vector<Number> &to) const;
  template <typename Copy>
  void for_each_row(
      const Block &local, const std::array<std::int64_t, 3> &offset, Copy &&copy) const;

  const LevelGrid &fine_;
  const LevelGrid &coarse_;
  const CellBasis &basis_;
  bool reference_;
  bool gathers_;
  Block part_;                           ///< the coarse cells under the local fine ones
  std::array<std::int64_t, 3> offset_{}; ///< of part_ in the coarse level's block
  Vector<Number> buffer_, rest_buffer_;  ///< part_'s numbers if gathers_
  std::vector<Block> parts_;             ///< of all ranks, if gathers_
  std::vector<std::array<std::int64_t, 3>> offsets_;
};

extern template class TransferOperator<double>;
extern template class TransferOperator<float>;
extern template class TransferOperator<Half>;
} // namespace tensormg
