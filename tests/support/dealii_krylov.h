// deal.II's Krylov methods on the dense problems of dense_problem.h, as the oracle.
#pragma once

#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/vector.h>

#include "tests/support/dense_problem.h"

namespace tensormg::test
{
struct DealiiResult
{
  int iterations = 0;
  DenseVector x;
};

/// Makes an object with f(DenseVector &y, const DenseVector &x) what deal.II calls a matrix.
template <typename Function>
struct DealiiMatrix
{
  Function f;
  void vmult(dealii::Vector<double> &y, const dealii::Vector<double> &x) const
  {
    DenseVector out(x.size());
    f(out, DenseVector(x.begin(), x.end()));
    std::copy(out.begin(), out.end(), y.begin());
  }
};
template <typename Function>
DealiiMatrix(Function) -> DealiiMatrix<Function>;

/// `method`(control) makes the solver. Starts from zero; the tolerance is relative to b.
template <typename Method>
DealiiResult dealii_solve(Method &&method, const DenseOperator &a, FunctionPreconditioner &p,
    const DenseVector &b, double tolerance, int max_iterations)
{
  dealii::Vector<double> x(b.size()), right(b.begin(), b.end());
  dealii::SolverControl control(max_iterations, tolerance * right.l2_norm(), false, false);
  auto solver = method(control);
  solver.solve(DealiiMatrix{[&](DenseVector &y, const DenseVector &u) { a.multiply(y, u); }}, x,
      right, DealiiMatrix{[&](DenseVector &z, const DenseVector &r) { p.f(z, r); }});
  return {static_cast<int>(control.last_step()), DenseVector(x.begin(), x.end())};
}

inline DealiiResult dealii_fgmres(const DenseOperator &a, FunctionPreconditioner p,
    const DenseVector &b, double tolerance, int max_iterations, int restart)
{
  using Solver = dealii::SolverFGMRES<dealii::Vector<double>>;
  return dealii_solve(
      [=](dealii::SolverControl &control) {
        // deal.II does not use the last vector of its basis.
        return Solver(control, Solver::AdditionalData(restart + 1));
      },
      a, p, b, tolerance, max_iterations);
}

inline DealiiResult dealii_cg(const DenseOperator &a, FunctionPreconditioner p,
    const DenseVector &b, double tolerance, int max_iterations)
{
  using Solver = dealii::SolverCG<dealii::Vector<double>>;
  return dealii_solve([](dealii::SolverControl &control) { return Solver(control); }, a, p, b,
      tolerance, max_iterations);
}
} // namespace tensormg::test
