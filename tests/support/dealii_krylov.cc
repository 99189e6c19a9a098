#include "tests/support/dealii_krylov.h"

#include <algorithm>
#include <functional>

#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/vector.h>

namespace tensormg::test
{
namespace
{
  /// Makes an object with f(DenseVector &y, const DenseVector &x) what deal.II calls a matrix.
  struct DealiiMatrix
  {
    std::function<void(DenseVector &, const DenseVector &)> f;
    void vmult(dealii::Vector<double> &y, const dealii::Vector<double> &x) const
    {
      DenseVector out(x.size());
      f(out, DenseVector(x.begin(), x.end()));
      std::copy(out.begin(), out.end(), y.begin());
    }
  };

  /// `method`(control) makes the solver. Starts from zero; the tolerance is relative to b.
  template <typename Method>
  DealiiResult solve(Method &&method, const DenseOperator &a, FunctionPreconditioner &p,
      const DenseVector &b, double tolerance, int max_iterations)
  {
    dealii::Vector<double> x(b.size()), right(b.begin(), b.end());
    dealii::SolverControl control(max_iterations, tolerance * right.l2_norm(), false, false);
    auto solver = method(control);
    solver.solve(DealiiMatrix{[&](DenseVector &y, const DenseVector &u) { a.multiply(y, u); }}, x,
        right, DealiiMatrix{p.f});
    return {static_cast<int>(control.last_step()), DenseVector(x.begin(), x.end())};
  }
} // namespace

DealiiResult dealii_fgmres(const DenseOperator &a, FunctionPreconditioner p, const DenseVector &b,
    double tolerance, int max_iterations, int restart)
{
  using Solver = dealii::SolverFGMRES<dealii::Vector<double>>;
  return solve(
      [=](dealii::SolverControl &control) {
        // deal.II does not use the last vector of its basis.
        return Solver(control, Solver::AdditionalData(restart + 1));
      },
      a, p, b, tolerance, max_iterations);
}

DealiiResult dealii_cg(const DenseOperator &a, FunctionPreconditioner p, const DenseVector &b,
    double tolerance, int max_iterations)
{
  using Solver = dealii::SolverCG<dealii::Vector<double>>;
  return solve([](dealii::SolverControl &control) { return Solver(control); }, a, p, b, tolerance,
      max_iterations);
}
} // namespace tensormg::test
