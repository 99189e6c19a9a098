// SolverIn for any context: included where it is compiled for one.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "kernels/vector/cuda.h"
#include "operators/constant/laplace_operator.h"
#include "operators/data/device_functions.h"
#include "operators/data/right_hand_side.h"
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
  using Matrix = SolverIn::Matrix;

  SolverInContext(const Grid &grid, const CellBasis &basis, laplace::Backend backend,
      const SolverOptions &options, const Vector<double> &sides, Context context,
      std::unique_ptr<MultigridPreconditionerIn<Context>> multigrid)
    : options_(options)
    , level_(grid.finest())
    , basis_(basis)
    , context_(std::move(context))
    , space_(context_.make_space(grid.finest().block, grid.finest().communicator))
    , operator_(grid.finest(), basis, backend, context_)
    , multigrid_(std::move(multigrid))
    , b_(context_.template make_vector<double>(grid.finest().block))
    , x_(context_.template make_vector<double>(grid.finest().block))
    , sides_(context_.template make_vector<double>(grid.finest().block))
  {
    copy(sides, sides_);
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

  void set_b(const Vector<double> &modes) override { copy(modes, b_); }
  void set_b(const Matrix &matrix, double factor, const double *nodal) override
  {
    to_modes(matrix, factor, nodal, b_);
  }
  void add_sides() override { space_.axpby(1., sides_, 1., b_); }
  void set_x(const Matrix &matrix, const double *nodal) override
  {
    to_modes(matrix, 1., nodal, x_);
  }
  void get_b(const Matrix &matrix, double factor, double *nodal) override
  {
    to_nodes(matrix, factor, b_, nodal);
  }
  void get_x(const Matrix &matrix, double *nodal) override { to_nodes(matrix, 1., x_, nodal); }

  double largest_of_b() override { return space_.max_abs(b_); }
  double largest_of_x() override { return space_.max_abs(x_); }
  void subtract_mean_of_b() override
  {
    constexpr double rounding = 1e-14;
    const double before = space_.norm(b_);
    subtract_mean(b_);
    if (space_.norm(b_) <= rounding * before)
      space_.axpby(0., sides_, 0., b_);
  }
  void subtract_mean_of_x() override { subtract_mean(x_); }

  SolveReport solve(Start start, const IterationCallback &callback) override
  {
    if (start == Start::zero)
      space_.axpby(0., b_, 0., x_);
    const double factor = bring_into_range();
    if (start != Start::zero)
      scale(x_, 1. / factor);
    else if (options_.full_multigrid && space_.norm(b_) > 0.)
    {
      multigrid_->full_start(x_, b_, options_.full_multigrid_cycles);
      start = Start::given_if_better;
    }
    wait();
    const auto begin = std::chrono::steady_clock::now();
    SolveReport report = run_(start, callback);
    wait();
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    scale(x_, factor);
    report.rhs_norm *= factor;
    for (double &residual : report.residuals)
      residual *= factor;
    return report;
  }

  void multiply() override { operator_.vmult(b_, x_); }

  void precondition() override
  {
    const double norm = space_.norm(b_);
    if (norm > 0.)
      multigrid_->apply(x_, b_, norm);
    else
      space_.axpby(0., b_, 0., x_);
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
    constexpr int lowest = -1000; // whose inverse is a number, too
    const double factor = std::ldexp(1., std::max(std::ilogb(largest), lowest));
    scale(b_, 1. / factor);
    return factor;
  }
  void scale(VectorType &x, double factor)
  {
    if (factor != 1.)
      space_.axpby(factor, x, 0., x);
  }

  void wait()
  {
    if constexpr (Context::on_device)
      device::synchronize(context_.stream);
  }

  void copy(const Vector<double> &from, VectorType &to)
  {
    if constexpr (Context::on_device)
      copy_to_device(from, to, context_.stream);
    else
      std::copy_n(from.data(), from.size(), to.data());
  }

  void subtract_mean(VectorType &x)
  {
    if constexpr (Context::on_device)
      subtract_mean_on_device(level_, basis_, x, space_);
    else
      tensormg::subtract_mean(level_, basis_, x);
  }

  void to_modes(const Matrix &matrix, double factor, const double *nodal, VectorType &modes)
  {
    if constexpr (Context::on_device)
    {
      const bool is_here = device::is_device_pointer(nodal);
      if (!is_here)
        device::to_device(staging(), nodal, bytes(), context_.stream);
      vector_kernels::cuda::nodes_to_modes(level_.block, matrix.data(), factor,
          is_here ? nodal : staging(), modes.data(), context_.stream);
      wait(); // the caller's vector may change now
    }
    else
      nodes_to_modes(matrix, factor, nodal, modes);
  }
  void to_nodes(const Matrix &matrix, double factor, const VectorType &modes, double *nodal)
  {
    if constexpr (Context::on_device)
    {
      const bool is_here = device::is_device_pointer(nodal);
      vector_kernels::cuda::modes_to_nodes(level_.block, matrix.data(), factor, modes.data(),
          is_here ? nodal : staging(), context_.stream);
      if (!is_here)
        device::to_host(nodal, staging(), bytes(), context_.stream);
      wait();
    }
    else
      modes_to_nodes(matrix, factor, modes, nodal);
  }
  std::size_t bytes() const
  {
    return static_cast<std::size_t>(level_.block.dofs()) * sizeof(double);
  }
  /// For nodal vectors in host memory, from the first one on.
  double *staging()
  {
    if (staging_.size() == 0)
      staging_ = context_.template make_array<double>(level_.block.dofs());
    return staging_.data();
  }

  SolverOptions options_;
  const LevelGrid &level_;
  const CellBasis &basis_;
  Context context_;
  Space space_;
  Operator<double> operator_;
  std::unique_ptr<Operator<WideFloat>> products_; ///< of a basis in single
  std::unique_ptr<Mixed> both_;
  std::unique_ptr<MultigridPreconditionerIn<Context>> multigrid_;
  VectorType b_, x_, sides_;
  typename Context::template Array<double> staging_{};
  Run run_;
};
} // namespace tensormg
