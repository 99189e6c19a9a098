// SolverIn for any context: included where it is compiled for one.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "operators/constant/laplace_operator.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/solver/solver_in.h"
#include "operators/vectors/context.h"
#include "solvers/cg.h"
#include "solvers/fgmres.h"
#include "solvers/mixed_operator.h"

namespace tensormg
{
template <typename Context>
class SolverInContext : public SolverIn
{
  using VectorType = typename Context::template Vector<double>;
  using Space = typename Context::Space;
  template <typename Number>
  using Operator = LaplaceOperator<Number, Context>;
  using Run = std::function<SolveReport(Start, const IterationCallback &)>;

public:
  SolverInContext(const Grid &grid, const CellBasis &basis, laplace::Backend backend,
      const SolverOptions &options, Context context,
      std::unique_ptr<MultigridPreconditionerIn<Context>> multigrid)
    : options_(options)
    , context_(std::move(context))
    , space_(context_.make_space(grid.finest().block, grid.finest().communicator))
    , operator_(grid.finest(), basis, backend, context_)
    , multigrid_(std::move(multigrid))
    , b_(context_.template make_vector<double>(grid.finest().block))
    , x_(context_.template make_vector<double>(grid.finest().block))
  {
    multigrid_->prepare(options_.full_multigrid, false);
    if (options_.has_single_basis())
    {
      products_ = std::make_unique<Operator<WideFloat>>(grid.finest(), basis, backend, context_);
      both_ = std::make_unique<Mixed>(operator_, *products_);
      run_ = make_run<typename Space::WideFloatVector>(*both_);
    }
    else
      run_ = make_run<VectorType>(operator_);
  }

  SolveReport solve(const Vector<double> &b, Vector<double> &x, Start start,
      const IterationCallback &callback) override
  {
    take(b, b_);
    if (start == Start::given)
      take(x, x_);
    else
      space_.axpby(0., b_, 0., x_);
    const double factor = bring_into_range();
    if (start == Start::given)
      scale(x_, 1. / factor);
    else if (options_.full_multigrid && space_.norm(b_) > 0.)
    {
      multigrid_->full_start(x_, b_, options_.full_multigrid_cycles);
      start = Start::given_if_better;
    }
    SolveReport report = run_(start, callback);
    scale(x_, factor);
    report.rhs_norm *= factor;
    for (double &residual : report.residuals)
      residual *= factor;
    give(x_, x);
    return report;
  }

  void multiply(Vector<double> &y, const Vector<double> &x) override
  {
    take(x, x_);
    operator_.vmult(b_, x_);
    give(b_, y);
  }

  void precondition(Vector<double> &z, const Vector<double> &r) override
  {
    take(r, b_);
    const double norm = space_.norm(b_);
    if (norm > 0.)
      multigrid_->apply(x_, b_, norm);
    else
      space_.axpby(0., b_, 0., x_);
    give(x_, z);
  }

private:
  using Mixed = MixedOperator<Operator<double>, Operator<WideFloat>>;

  template <typename BasisVector, typename AnyOperator>
  Run make_run(AnyOperator &op)
  {
    const auto run = [&, this](auto method) -> Run {
      return [this, &op, method](Start start, const IterationCallback &callback) {
        return method->solve(op, *multigrid_, x_, b_, callback, start);
      };
    };
    if (options_.solver == OuterSolver::cg)
      return run(std::make_shared<ConjugateGradients<Space, BasisVector>>(
          space_, options_.tolerance, options_.max_iterations));
    return run(std::make_shared<Fgmres<Space, BasisVector>>(
        space_, options_.tolerance, options_.max_iterations, options_.restart));
  }

  /// Divides b_ by a power of two, which is returned, if the square of its norm could leave the range of double precision.
  double bring_into_range()
  {
    const double largest = space_.max_abs(b_);
    if (largest == 0. || (largest > 1e-100 && largest < 1e100))
      return 1.;
    const double factor = std::ldexp(1., std::ilogb(largest));
    scale(b_, 1. / factor);
    return factor;
  }
  void scale(VectorType &x, double factor)
  {
    if (factor != 1.)
      space_.axpby(factor, x, 0., x);
  }

  void take(const Vector<double> &from, VectorType &to)
  {
    if constexpr (Context::on_device)
      copy_to_device(from, to, context_.stream);
    else
      std::copy_n(from.data(), from.size(), to.data());
  }
  void give(const VectorType &from, Vector<double> &to)
  {
    if constexpr (Context::on_device)
      copy_to_host(from, to, context_.stream);
    else
      std::copy_n(from.data(), from.size(), to.data());
  }

  SolverOptions options_;
  Context context_;
  Space space_;
  Operator<double> operator_;
  std::unique_ptr<Operator<WideFloat>> products_; ///< of a basis in single
  std::unique_ptr<Mixed> both_;
  std::unique_ptr<MultigridPreconditionerIn<Context>> multigrid_;
  VectorType b_, x_;
  Run run_;
};
} // namespace tensormg
