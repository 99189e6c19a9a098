// The direct solver of a box as the coarse solver of a multigrid hierarchy.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>

#include "operators/constant/box_solver.h"
#include "operators/constant/device_box_solver.h"
#include "operators/vectors/context.h"
#include "solvers/smoother.h"

namespace tensormg
{
template <typename Number, typename Context = HostContext>
class CoarseBoxSolver : public CoarseSolverBase<typename Context::template Vector<Number>>
{
  using VectorType = typename Context::template Vector<Number>;
  using Solver = std::conditional_t<Context::on_device, DeviceBoxSolver<Number>, BoxSolver>;

public:
  /// Arguments must outlive the object.
  CoarseBoxSolver(const LevelGrid &level, const CellBasis &basis, const Problem &problem,
      const Context &context = {})
    : make_([&level, &basis, &problem, context] {
      if constexpr (Context::on_device)
        return std::make_unique<Solver>(level, basis, problem, context);
      else
        return std::make_unique<Solver>(level, basis, problem);
    })
  {
    make();
  }
  void update() override
  {
    solver_.reset();
    make();
  }
  void solve(VectorType &x, const VectorType &b) override { solver_->solve(x, b); }

  static std::int64_t bytes(const LevelGrid &level)
  {
    if constexpr (Context::on_device)
      return Solver::memory(level);
    else
      return Solver::memory(Block(level.block.dim, level.block.degree(), level.global_cells));
  }

private:
  void make()
  {
    solver_ = make_();
    if constexpr (!Context::on_device)
      solver_->take_memory();
  }

  std::function<std::unique_ptr<Solver>()> make_;
  std::unique_ptr<Solver> solver_;
};

} // namespace tensormg
