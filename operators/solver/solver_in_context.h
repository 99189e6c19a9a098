// SolverIn for any context: included where it is compiled for one.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "kernels/vector/cuda.h"
#include "operators/data/functions.h"
#include "operators/solver/box_system.h"
#include "operators/solver/data_in_context.h"
#include "operators/solver/solver_in.h"
#include "operators/vectors/context.h"

namespace tensormg
{
template <typename Context>
class SolverInContext : public SolverIn
{
  using VectorType = typename Context::template Vector<double>;

public:
  using Matrix = SolverIn::Matrix;

  SolverInContext(const Grid &grid, const CellBasis &basis, laplace::Backend backend,
      const SolverOptions &options, Context context, const SolverEnvironment &environment)
    : grid_(grid)
    , basis_(basis)
    , context_(std::move(context))
    , environment_(environment)
    , solver_({grid, basis, backend, context_}, options, {.cycle = {.one_allocation = true}})
    , data_(grid.problem, level(), basis, context_, solver_.space(),
          [this](const std::string &what) { tell_of_host(what); })
    , b_(context_.template make_vector<double>(level().block))
    , x_(context_.template make_vector<double>(level().block))
  {
    solver_.set_up(x_, b_);
  }

  void set_b_of_problem() override { data_.right_hand_side(b_); }
  void set_b(const Matrix &matrix, double factor, const double *nodal) override
  {
    to_modes(matrix, factor, nodal, b_);
  }
  void weigh_b() override { data_.weigh(b_); }
  void add_sides() override
  {
    if (!knows_sides_)
      make_sides();
    if (has_sides_)
      solver_.space().axpby(1., sides_, 1., b_);
  }
  void forget_sides() override { knows_sides_ = false; }
  void update_cells(const MultigridOptions &options) override
  {
    knows_sides_ = false;
    solver_.update_cells(options);
  }
  void set_x(const Matrix &matrix, const double *nodal) override
  {
    to_modes(matrix, 1., nodal, x_);
  }
  void get_b(const Matrix &matrix, double factor, double *nodal) override
  {
    to_nodes(matrix, factor, b_, nodal);
  }
  void get_x(const Matrix &matrix, double *nodal) override { to_nodes(matrix, 1., x_, nodal); }

  double largest_of_b() override { return solver_.space().max_abs(b_); }
  double largest_of_x() override { return solver_.space().max_abs(x_); }
  void subtract_mean_of_b() override
  {
    constexpr double rounding = 1e-14;
    const double before = solver_.space().norm(b_);
    data_.subtract_constant(b_);
    if (solver_.space().norm(b_) <= rounding * before)
      solver_.space().axpby(0., x_, 0., b_);
  }
  void subtract_mean_of_x() override { data_.subtract_mean(x_); }

  SolveReport solve(Start start, const std::function<void()> &restore) override
  {
    const int exponent = data_.bring_into_range(b_, largest_of_b());
    if (start == Start::zero)
      solver_.space().axpby(0., b_, 0., x_);
    else
      data_.scale(x_, -exponent);
    SolveEvents events;
    events.iteration = environment_.iteration;
    events.check_memory = environment_.check_memory;
    events.restarts = [this](const std::string &text) { tell(text); };
    events.restore_start = [&] {
      restore();
      data_.scale(x_, -exponent);
    };
    SolveReport report = solver_.solve(x_, b_, start, events);
    data_.scale(x_, exponent);
    const double factor = std::ldexp(1., exponent);
    report.rhs_norm *= factor;
    for (double &residual : report.residuals)
      residual *= factor;
    return report;
  }

  void multiply() override { solver_.multiply(b_, x_); }
  void precondition() override { solver_.precondition(x_, b_); }

private:
  const LevelGrid &level() const { return grid_.finest(); }

  void make_sides()
  {
    Problem only_sides = grid_.problem;
    only_sides.right_hand_side = "0";
    bool are_zero = true;
    for (std::size_t s = 0; s < 2 * static_cast<std::size_t>(only_sides.dim); ++s)
      if (only_sides.boundary[s] != BoundaryKind::periodic)
      {
        const ScalarFunction value = scalar_function(only_sides, only_sides.boundary_value[s]);
        are_zero = are_zero && value.is_constant() && value.value() == 0.;
      }
    has_sides_ = !are_zero;
    if (has_sides_ && sides_.size() == 0)
      sides_ = context_.template make_vector<double>(level().block);
    if (has_sides_)
      DataInContext<Context>(only_sides, level(), basis_, context_, solver_.space(),
          [this](const std::string &what) { tell_of_host(what); })
          .right_hand_side(sides_);
    knows_sides_ = true;
  }

  void tell(const std::string &message) const
  {
    if (environment_.message)
      environment_.message(message);
  }
  void tell_of_host(const std::string &what) const
  {
    tell(what + " is evaluated on the host: for its functions the device lacks kernels");
  }

  void wait()
  {
    if constexpr (Context::on_device)
      device::synchronize(context_.stream);
  }

  void to_modes(const Matrix &matrix, double factor, const double *nodal, VectorType &modes)
  {
    if constexpr (Context::on_device)
    {
      wait_for_caller();
      const bool is_here = device::is_device_pointer(nodal);
      if (!is_here)
        device::to_device(staging(), nodal, bytes(), context_.stream);
      vector_kernels::cuda::nodes_to_modes(level().block, matrix.data(), factor,
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
      wait_for_caller();
      const bool is_here = device::is_device_pointer(nodal);
      vector_kernels::cuda::modes_to_nodes(level().block, matrix.data(), factor, modes.data(),
          is_here ? nodal : staging(), context_.stream);
      if (!is_here)
        device::to_host(nodal, staging(), bytes(), context_.stream);
      wait();
    }
    else
      modes_to_nodes(matrix, factor, modes, nodal);
  }
  /// Before a vector of the caller's is read or written.
  void wait_for_caller()
  {
    device::synchronize(Stream(static_cast<CUstream_st *>(environment_.stream)));
  }
  std::size_t bytes() const
  {
    return static_cast<std::size_t>(level().block.dofs()) * sizeof(double);
  }
  /// For nodal vectors in host memory, from the first one on.
  double *staging()
  {
    if (staging_.size() == 0)
      staging_ = context_.template make_array<double>(level().block.dofs());
    return staging_.data();
  }

  const Grid &grid_;
  const CellBasis &basis_;
  Context context_;
  SolverEnvironment environment_;
  BoxSystemSolver<Context> solver_;
  DataInContext<Context> data_;
  VectorType b_, x_;
  VectorType sides_; ///< empty until they are not zero
  bool knows_sides_ = false, has_sides_ = false;
  typename Context::template Array<double> staging_{};
};
} // namespace tensormg
