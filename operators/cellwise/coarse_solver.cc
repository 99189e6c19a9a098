#include "operators/cellwise/coarse_solver.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/vector/vector.h"

namespace tensormg
{
template <typename Number>
std::int64_t CellwiseCoarseSolver<Number>::bytes(const LevelGrid &level)
{
  const std::int64_t size = level.block.size(), dofs = level.block.dofs();
  return (DenseLevel::suits(level) ? dofs * dofs + 3 * size : 7 * size) *
      std::int64_t{sizeof(double)};
}

template <typename Number>
CellwiseCoarseSolver<Number>::CellwiseCoarseSolver(
    const LevelGrid &level, const CellBasis &basis, laplace::Backend backend, bool is_singular)
  : level_(level)
  , is_singular_(is_singular)
  , space_(level.block, level.communicator)
  , operator_(level, basis, backend)
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

template <typename Number>
void CellwiseCoarseSolver<Number>::factorise()
{
  DenseLevel dense(operator_, is_singular_);
  places_ = std::move(dense.places);
  std::fill_n(x_.data(), x_.size(), 0.);
  dense_.resize(places_.size());
  factor_ = Cholesky(std::move(dense.matrix), "the matrix of the coarsest level");
}

template <typename Number>
void CellwiseCoarseSolver<Number>::update()
{
  operator_.update_cells();
  if (DenseLevel::suits(level_))
    factorise();
}

template <typename Number>
void CellwiseCoarseSolver<Number>::solve(Vector<Number> &x, const Vector<Number> &b)
{
  space_.convert(VectorSpace::scale(1.), b, b_);
  project();
  if (!factor_.empty())
    solve_dense();
  else
    iterate();
  space_.convert(VectorSpace::scale(1.), x_, x);
}

template <typename Number>
void CellwiseCoarseSolver<Number>::project()
{
  if (constant_.size() > 0)
    space_.axpby(-space_.dot(constant_, b_), constant_, 1., b_);
}

template <typename Number>
void CellwiseCoarseSolver<Number>::solve_dense()
{
  for (std::size_t i = 0; i < places_.size(); ++i)
    dense_[i] = b_[places_[i]];
  factor_.solve(dense_);
  for (std::size_t i = 0; i < places_.size(); ++i)
    x_[places_[i]] = dense_[i];
}

template <typename Number>
void CellwiseCoarseSolver<Number>::iterate()
{
  constexpr int most_steps = 5000;
  space_.axpby(0., b_, 0., x_);
  space_.axpby(1., b_, 0., r_);
  const double target = most_accurate * space_.norm(b_);
  double before = 0.;
  for (int step = 0; step < most_steps && space_.norm(r_) > target; ++step)
  {
    operator_.inverse_diagonal(z_, r_, 1.);
    const double rho = space_.dot(z_, r_);
    space_.axpby(1., z_, step == 0 ? 0. : rho / before, p_);
    before = rho;
    operator_.vmult(q_, p_);
    const double alpha = rho / space_.dot(p_, q_);
    if (!std::isfinite(alpha))
      break; // the cycle reports what is not finite
    space_.axpby(alpha, p_, 1., x_);
    space_.axpby(-alpha, q_, 1., r_);
  }
}

template class CellwiseCoarseSolver<double>;
template class CellwiseCoarseSolver<float>;
template class CellwiseCoarseSolver<Half>;
} // namespace tensormg
