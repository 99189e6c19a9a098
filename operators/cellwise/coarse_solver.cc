#include "operators/cellwise/coarse_solver.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/vector/vector.h"

namespace tensormg
{
namespace
{
  constexpr std::int64_t most_dense = 1500;
} // namespace

template <typename Number>
bool CellwiseCoarseSolver<Number>::is_dense(const LevelGrid &level)
{
  return level.block.dofs() == level.global_dofs() && level.block.dofs() <= most_dense;
}

template <typename Number>
std::int64_t CellwiseCoarseSolver<Number>::bytes(const LevelGrid &level)
{
  const std::int64_t size = level.block.size(), dofs = level.block.dofs();
  return (is_dense(level) ? dofs * dofs + 3 * size : 7 * size) * std::int64_t{sizeof(double)};
}

template <typename Number>
CellwiseCoarseSolver<Number>::CellwiseCoarseSolver(
    const LevelGrid &level, const CellBasis &basis, laplace::Backend backend, bool is_singular)
  : level_(level)
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
  if (is_dense(level))
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
  const Block &block = level_.block;
  places_.clear();
  std::fill_n(x_.data(), x_.size(), 0.);
  for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
    for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
      for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
        for (int k = 0; k < block.nz(); ++k)
          for (int j = 0; j < block.n; ++j)
            for (int i = 0; i < block.n; ++i)
              places_.push_back(block.index(cx, cy, cz, i, j, k));
  const std::size_t size = places_.size();
  std::vector<double> matrix(size * size);
  dense_.resize(size);
  double trace = 0.;
  for (std::size_t j = 0; j < size; ++j)
  {
    x_[places_[j]] = 1.;
    operator_.vmult(b_, x_);
    x_[places_[j]] = 0.;
    for (std::size_t i = 0; i < size; ++i)
      matrix[j * size + i] = b_[places_[i]];
    trace += matrix[j * size + j];
  }
  if (constant_.size() > 0) // a right-hand side without mean then has a solution without mean
    for (std::size_t j = 0; j < size; ++j)
      for (std::size_t i = 0; i < size; ++i)
        matrix[j * size + i] +=
            trace / static_cast<double>(size) * constant_[places_[i]] * constant_[places_[j]];
  factor_ = Cholesky(std::move(matrix), "the matrix of the coarsest level");
}

template <typename Number>
void CellwiseCoarseSolver<Number>::update()
{
  operator_.update_cells();
  if (is_dense(level_))
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
