// `tensormg solve` with vectors in host memory.
#include "apps/solve_methods.h"
#include "operators/box_solver.h"
#include "operators/laplace_operator.h"
#include "operators/multigrid_preconditioner.h"
#include "operators/right_hand_side.h"
#include "operators/vector_space.h"

namespace tensormg
{
namespace
{
  struct HostPlace
  {
    using VectorType = Vector<double>;
    static constexpr bool first_calls_are_slow = false;

    const System &system;

    const LevelGrid &level() const { return system.grid.finest(); }
    VectorSpace make_space() const { return VectorSpace(level()); }
    LaplaceOperator<double> make_operator() const
    {
      return {level(), system.basis, system.backend};
    }
    BoxSolver make_direct() const { return {level(), system.basis, system.parameters.problem}; }
    auto make_preconditioner() const
    {
      return make_multigrid(system.grid, system.basis, system.backend, system.options().multigrid);
    }
    void subtract_mean(const VectorSpace &, VectorType &x) const
    {
      tensormg::subtract_mean(level(), system.basis, x);
    }
    void wait() const {}
  };
} // namespace

void solve_on_host(
    const System &system, const Vector<double> &b, Vector<double> &x, RunRecord &record)
{
  solve_with(system, HostPlace{system}, b, x, record);
}
} // namespace tensormg
