// The direct solver of a box as the coarse solver of a multigrid hierarchy.
#pragma once

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
  /// Arguments of BoxSolver or DeviceBoxSolver.
  template <typename... Arguments>
  explicit CoarseBoxSolver(const Arguments &...arguments)
    : solver_(arguments...)
  {}
  void solve(VectorType &x, const VectorType &b) override { solver_.solve(x, b); }

  /// For a level of these cells.
  static std::int64_t bytes(const Block &whole) { return Solver::memory(whole); }

private:
  Solver solver_;
};

} // namespace tensormg
