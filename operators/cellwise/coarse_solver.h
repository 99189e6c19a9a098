// The coarsest level where cells have numbers of their own.
#pragma once

#include <vector>

#include "operators/cellwise/cholesky.h"
#include "operators/cellwise/dense_level.h"
#include "operators/constant/laplace_operator.h"
#include "operators/vectors/vector_space.h"
#include "solvers/smoother.h"

namespace tensormg
{
/// Solves B x = b on a level of any operator in host memory, in double: with few unknowns by a Cholesky factorisation of the dense
/// matrix, otherwise by conjugate gradients with D as the preconditioner to most_accurate. Where constants are in the
/// kernel the result has mean zero, and so must b.
template <typename Number>
class CellwiseCoarseSolver : public CoarseSolverBase<Vector<Number>>
{
public:
  /// `level` and `basis` must outlive the object. Throws std::runtime_error if the matrix is not positive definite.
  CellwiseCoarseSolver(
      const LevelGrid &level, const CellBasis &basis, laplace::Backend backend, bool is_singular);
  void update() override;
  void solve(Vector<Number> &x, const Vector<Number> &b) override;

  static std::int64_t bytes(const LevelGrid &level);

private:
  static constexpr double most_accurate = 1e-10;
  void factorise();
  void solve_dense();
  void iterate();
  /// Subtracts from b what is along constants.
  void project();

  const LevelGrid &level_;
  bool is_singular_;
  VectorSpace space_;
  LaplaceOperator<double> operator_;
  Vector<double> x_, b_, constant_; ///< constant_: empty, or the coefficients of 1, of norm 1
  Vector<double> r_, z_, p_, q_;
  std::vector<std::int64_t> places_; ///< of the unknowns of the dense matrix
  Cholesky factor_;
  std::vector<double> dense_;
};
} // namespace tensormg
