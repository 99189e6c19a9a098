// The operator of a level with inverses of cells and lines, for smoothers where coefficients jump and cells are stretched.
#pragma once

#include <array>

#include "kernels/laplace/cellwise/relaxation.h"
#include "operators/constant/laplace_operator.h"

namespace tensormg
{
/// B of a level and S = (F + sum of L_d over the chosen directions) / (1 + their number), of the inverses F of cells and L_d of lines
/// (kernels/laplace/cellwise/relaxation.h), in the place of D^-1. In device memory work is queued in the stream of the context.
template <typename Number, typename Context = HostContext>
class CellsAndLines
{
public:
  using VectorType = typename Context::template Vector<Number>;

  /// `level`, whose cells have numbers, and `basis` must outlive the object.
  CellsAndLines(const LevelGrid &level, const CellBasis &basis, laplace::Backend backend,
      const std::array<bool, 3> &lines, const Context &context = {});

  VectorType make_vector() const { return operator_.make_vector(); }
  void vmult(VectorType &y, const VectorType &x) { operator_.vmult(y, x); }
  void residual(VectorType &r, const VectorType &x, const VectorType &b)
  {
    operator_.residual(r, x, b);
  }
  void update_cells() { operator_.update_cells(); }
  /// z = factor S r
  void inverse_diagonal(VectorType &z, const VectorType &r, double factor);
  /// old = x + theta (x - old) + alpha S r; x = nullptr is zero, and old is not read.
  void step(VectorType &old, const VectorType *x, const VectorType &r, double theta, double alpha);

  /// Of what is held besides the numbers of the cells.
  static std::int64_t bytes(const LevelGrid &level, const std::array<bool, 3> &lines);

private:
  bool has_lines() const { return lines_[0] || lines_[1] || lines_[2]; }
  int parts() const { return 1 + int{lines_[0]} + int{lines_[1]} + int{lines_[2]}; }
  void add_lines(const VectorType &r, double weight);
  void step_on_device(
      VectorType &old, const VectorType *x, const VectorType &r, double theta, double weight);

  const LevelGrid &level_;
  const CellBasis &basis_;
  Context context_;
  LaplaceOperator<Number, Context> operator_;
  std::array<bool, 3> lines_;
  laplace::CellBases<Compute<Number>> bases_;
  /// On a device those of bases_, and what lines are eliminated in.
  typename Context::template Array<Compute<Number>> vectors_, quotients_, work_;
  VectorType z_; ///< on the host S r, on a device what lines give
};
} // namespace tensormg
