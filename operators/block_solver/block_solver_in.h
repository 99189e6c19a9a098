// BlockSolver for any context: included where it is compiled for one.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "operators/block_solver/block_solver.h"
#include "operators/block_solver/block_system.h"
#include "operators/solver/current_device.h"

namespace tensormg
{
template <typename Context>
class BlockSolverIn : public BlockSolver
{
  using DeviceOrHostVector = typename Context::template Vector<double>;

public:
  /// The precision in `options` is automatic or one that the levels can have.
  BlockSolverIn(const BlockLevels &levels, const SolverOptions &options, Context context,
      const CycleOptions &cycle)
    : BlockSolver(levels)
    , context_(std::move(context))
    , solver_(make_solver(levels, options, cycle))
  {
    if constexpr (Context::on_device)
    {
      device_ = device_properties().number;
      x_ = solver_->space().make_vector();
      b_ = solver_->space().make_vector();
    }
  }
  void set_up(Vector<double> &x, const Vector<double> &b)
  {
    if constexpr (Context::on_device)
    {
      upload(x, x_);
      upload(b, b_);
      solver_->set_up(x_, b_);
    }
    else
      solver_->set_up(x, b);
  }

  SolveReport solve(
      Vector<double> &x, const Vector<double> &b, Start start, const SolveEvents &events) override
  {
    const CurrentDevice current(device_);
    if constexpr (Context::on_device)
    {
      upload(b, b_);
      if (start == Start::given)
        upload(x, x_);
      else
        solver_->space().axpby(0., b_, 0., x_); // it has the solution of another b
      SolveEvents here = events;
      if (events.restore_start)
        here.restore_start = [&] {
          events.restore_start();
          upload(x, x_);
        };
      SolveReport report = solver_->solve(x_, b_, start, here);
      copy_to_host(x_, x, context_.stream);
      return report;
    }
    else
      return solver_->solve(x, b, start, events);
  }
  void multiply(Vector<double> &y, const Vector<double> &x) override
  {
    const CurrentDevice current(device_);
    map(y, x, [this](auto &to, const auto &from) { solver_->multiply(to, from); });
  }
  void precondition(Vector<double> &z, const Vector<double> &r) override
  {
    const CurrentDevice current(device_);
    map(z, r, [this](auto &to, const auto &from) { solver_->precondition(to, from); });
  }

  const SolverOptions &options() const override { return solver_->options(); }
  const RelaxationChoice &relaxation() const override { return solver_->system().relaxation(); }
  const OperatorChoice &cycle_operator() const override
  {
    return solver_->system().cycle_operator();
  }
  std::vector<LevelTimes> times() const override { return solver_->multigrid()->times(); }
  double lambda_max() const override { return solver_->multigrid()->lambda_max(); }

private:
  using Solver = SystemSolver<BlockSystem<Context>>;

  std::unique_ptr<Solver> make_solver(
      const BlockLevels &levels, SolverOptions options, const CycleOptions &cycle) const
  {
    constexpr double most_in_single = 1e9;
    const BlockSystem<Context> system(levels, options.multigrid, context_);
    // Cells that all touch stiff ones have diagonals like theirs.
    if (options.multigrid.precision == Precision::automatic &&
        std::max(diagonal_range(levels), system.relaxation().jump) > most_in_single)
      options.multigrid.precision = Precision::double_precision;
    options.multigrid = with_precision_of_blocks(options.multigrid);
    options.basis_precision = BasisPrecision::double_precision;
    return std::make_unique<Solver>(system, options, SystemSettings{.cycle = cycle});
  }
  void upload(const Vector<double> &from, DeviceOrHostVector &to) const
  {
    copy_to_device(from, to, context_.stream);
  }
  /// f(to, from) in the memory of the context.
  template <typename F>
  void map(Vector<double> &to, const Vector<double> &from, const F &f)
  {
    if constexpr (Context::on_device)
    {
      auto result = solver_->space().make_vector(), given = solver_->space().make_vector();
      upload(from, given);
      f(result, given);
      copy_to_host(result, to, context_.stream);
    }
    else
      f(to, from);
  }

  Context context_;
  std::optional<int> device_; ///< a program may work with another one between calls
  std::unique_ptr<Solver> solver_;
  DeviceOrHostVector x_, b_; ///< of a device
};
} // namespace tensormg
