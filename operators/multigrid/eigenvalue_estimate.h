// The largest eigenvalue of the operator preconditioned by block Jacobi or by additive Schwarz.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "operators/constant/laplace_operator.h"

namespace tensormg
{
/// There is no largest eigenvalue: the operator has entries that are not finite.
struct EigenvalueError : std::runtime_error
{
  using std::runtime_error::runtime_error;
};

/// Calls `estimate`; what it says of an eigenvalue that there is none of is said of `level`.
template <typename F>
double naming_the_level(const std::string &level, const F &estimate)
{
  try
  {
    return estimate();
  }
  catch (const EigenvalueError &error)
  {
    throw EigenvalueError(error.what() + (" on " + level));
  }
}

/// A symmetric tridiagonal matrix; off_diagonal has an entry less, or more that are ignored.
struct Tridiagonal
{
  std::vector<double> diagonal, off_diagonal;
};
/// Ascending. Throws EigenvalueError if they cannot be found.
std::vector<double> eigenvalues(const Tridiagonal &matrix);

/// The matrix of `steps` Lanczos steps for D^-1 B in the D inner product from D^-1 start; its eigenvalues are the Ritz values. For an
/// operator and a space in host or in device memory.
template <typename Operator, typename Space>
Tridiagonal lanczos(
    Operator &op, const Space &space, typename Operator::VectorType start, int steps)
{
  using VectorType = typename Operator::VectorType;
  using Number = std::remove_cvref_t<decltype(*start.data())>;
  constexpr double rounding = std::is_same_v<Number, double> ? 1e-10 : 1e-5;
  // q: current Lanczos vector, dq = D q; w = B q in the making.
  VectorType q = op.make_vector(), w = op.make_vector(), dq_old = op.make_vector();
  VectorType dq = std::move(start);
  op.inverse_diagonal(q, dq, 1.);
  const double length = std::sqrt(space.dot(q, dq));
  space.axpby(1. / length, q, 0., q);
  space.axpby(1. / length, dq, 0., dq);
  Tridiagonal result;
  auto &[diagonal, off_diagonal] = result;
  for (int j = 0; j < steps; ++j)
  {
    op.vmult(w, q);
    const double alpha = space.dot(w, q);
    space.axpby(-alpha, dq, 1., w);
    if (j > 0)
      space.axpby(-off_diagonal.back(), dq_old, 1., w);
    diagonal.push_back(alpha);
    dq_old.swap(dq);
    op.inverse_diagonal(q, w, 1.);
    const double beta = std::sqrt(std::max(space.dot(q, w), 0.));
    if (!(beta > rounding * diagonal.front()))
      break; // an invariant subspace: its Ritz values are eigenvalues
    off_diagonal.push_back(beta);
    space.axpby(1. / beta, q, 0., q);
    space.axpby(1. / beta, w, 0., dq);
  }
  return result;
}

/// Largest Ritz value of D^-1 B: a lower bound of lambda_max that is accurate to a per cent after about ten steps.
template <typename Operator, typename Space>
double lanczos_lambda_max(
    Operator &op, const Space &space, typename Operator::VectorType start, int steps)
{
  return eigenvalues(lanczos(op, space, std::move(start), steps)).back();
}

/// Largest Ritz value of P B, P the sum of the corrections of all patches, after `steps` Lanczos steps in the P^-1
/// inner product from P start: a lower bound of lambda_max that is accurate to a per cent after about ten steps.
/// For an operator, corrections (solvers/schwarz.h) and a space in host or in device memory.
template <typename Operator, typename Correction, typename Space>
double lanczos_schwarz_lambda_max(Operator &op, Correction &correction, const Space &space,
    typename Operator::VectorType start, int steps)
{
  using VectorType = typename Operator::VectorType;
  // q = P p is the current vector, w = B q in the making.
  VectorType p = op.make_vector(), p_old = op.make_vector(), q = op.make_vector();
  VectorType w = std::move(start);
  std::vector<double> diagonal, off_diagonal;
  double beta = 0.;
  for (int j = 0; j < steps; ++j)
  {
    correction.set_zero(q);
    correction.add_all(q, w, 1.);
    const double next = std::sqrt(std::max(space.dot(q, w), 0.));
    if (j > 0 && !(next > 1e-10 * diagonal.front()))
      break; // an invariant subspace: its Ritz values are eigenvalues
    if (j > 0)
      off_diagonal.push_back(next);
    beta = next;
    p_old.swap(p);
    space.axpby(1. / beta, w, 0., p);
    space.axpby(1. / beta, q, 0., q);
    op.vmult(w, q);
    diagonal.push_back(space.dot(w, q));
    space.axpby(-diagonal.back(), p, 1., w);
    if (j > 0)
      space.axpby(-beta, p_old, 1., w);
  }
  return eigenvalues(Tridiagonal{diagonal, off_diagonal}).back();
}

/// The first in host memory from a fixed pseudo-random start. Collective; independent of the number of ranks
/// up to rounding.
double estimate_lambda_max(LaplaceOperator<double> &op, int steps);
} // namespace tensormg
