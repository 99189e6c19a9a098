// The coarsest level of any operator in host memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/vector/vector.h"
#include "operators/cellwise/cholesky.h"
#include "operators/cellwise/dense_level.h"
#include "operators/vectors/vector_space.h"
#include "solvers/smoother.h"

namespace tensormg
{
/// Solves B x = b on a level of any operator in host memory, in double: with few unknowns by a Cholesky factorisation of the dense
/// matrix, otherwise by conjugate gradients with D as the preconditioner to most_accurate. Where constants are in the
/// kernel the result has mean zero, and so must b.
template <typename Number, typename Operator>
class HostCoarseSolver : public CoarseSolverBase<Vector<Number>>
{
public:
  /// `level` and `basis` must outlive the object. Throws std::runtime_error if the matrix is not positive definite.
  HostCoarseSolver(const LevelGrid &level, const CellBasis &basis, std::unique_ptr<Operator> op,
      bool is_singular);
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
  const CellBasis &basis_;
  bool is_singular_;
  VectorSpace space_;
  std::unique_ptr<Operator> operator_;
  Vector<double> x_, b_, constant_; ///< constant_: empty, or the coefficients of 1, of norm 1
  Vector<double> r_, z_, p_, q_;
  std::vector<std::int64_t> places_; ///< of the unknowns of the dense matrix
  Cholesky factor_;
  std::vector<double> dense_;
};

template <typename Number, typename Operator>
std::int64_t HostCoarseSolver<Number, Operator>::bytes(const LevelGrid &level)
{
  const std::int64_t size = level.block.size(), dofs = level.block.dofs();
  return (DenseLevel::suits(level) ? dofs * dofs + 3 * size : 7 * size) *
      std::int64_t{sizeof(double)};
}

template <typename Number, typename Operator>
HostCoarseSolver<Number, Operator>::HostCoarseSolver(
    const LevelGrid &level, const CellBasis &basis, std::unique_ptr<Operator> op, bool is_singular)
  : level_(level)
  , basis_(basis)
  , is_singular_(is_singular)
  , space_(level.block, level.communicator)
  , operator_(std::move(op))
  , x_(level.block)
  , b_(level.block)
{
  if (is_singular)
  {
    constant_ = Vector<double>(level.block);
    vector_kernels::add_constant(level.block, basis, 1., constant_.data());
    space_.axpby(1. / space_.norm(constant_), constant_, 0., constant_);
  }
  if (DenseLevel::suits(level))
  {
    factorise();
    return;
  }
  for (Vector<double> *vector : {&r_, &z_, &p_, &q_})
    *vector = Vector<double>(level.block);
}

template <typename Number, typename Operator>
void HostCoarseSolver<Number, Operator>::factorise()
{
  DenseLevel dense(
      level_, basis_, [&](auto &y, const auto &x) { operator_->vmult(y, x); }, is_singular_);
  places_ = std::move(dense.places);
  std::fill_n(x_.data(), x_.size(), 0.);
  dense_.resize(places_.size());
  factor_ = Cholesky(std::move(dense.matrix), "the matrix of the coarsest level");
}

template <typename Number, typename Operator>
void HostCoarseSolver<Number, Operator>::update()
{
  operator_->update_cells();
  if (DenseLevel::suits(level_))
    factorise();
}

template <typename Number, typename Operator>
void HostCoarseSolver<Number, Operator>::solve(Vector<Number> &x, const Vector<Number> &b)
{
  space_.convert(VectorSpace::scale(1.), b, b_);
  project();
  if (!factor_.empty())
    solve_dense();
  else
    iterate();
  space_.convert(VectorSpace::scale(1.), x_, x);
}

template <typename Number, typename Operator>
void HostCoarseSolver<Number, Operator>::project()
{
  if (constant_.size() > 0)
    space_.axpby(-space_.dot(constant_, b_), constant_, 1., b_);
}

template <typename Number, typename Operator>
void HostCoarseSolver<Number, Operator>::solve_dense()
{
  for (std::size_t i = 0; i < places_.size(); ++i)
    dense_[i] = b_[places_[i]];
  factor_.solve(dense_);
  for (std::size_t i = 0; i < places_.size(); ++i)
    x_[places_[i]] = dense_[i];
}

template <typename Number, typename Operator>
void HostCoarseSolver<Number, Operator>::iterate()
{
  constexpr int most_steps = 5000;
  space_.axpby(0., b_, 0., x_);
  space_.axpby(1., b_, 0., r_);
  const double target = most_accurate * space_.norm(b_);
  double before = 0.;
  for (int step = 0; step < most_steps && space_.norm(r_) > target; ++step)
  {
    operator_->inverse_diagonal(z_, r_, 1.);
    const double rho = space_.dot(z_, r_);
    space_.axpby(1., z_, step == 0 ? 0. : rho / before, p_);
    before = rho;
    operator_->vmult(q_, p_);
    const double alpha = rho / space_.dot(p_, q_);
    if (!std::isfinite(alpha))
      break; // the cycle reports what is not finite
    space_.axpby(alpha, p_, 1., x_);
    space_.axpby(-alpha, q_, 1., r_);
  }
}
} // namespace tensormg
