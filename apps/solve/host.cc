// `tensormg solve` with vectors in host memory.
#include "apps/common/memory_plan.h"
#include "apps/common/output_level.h"
#include "apps/solve/run.h"
#include "operators/constant/box_solver.h"
#include "operators/constant/laplace_operator.h"
#include "operators/constant/transfer_operator.h"
#include "operators/data/right_hand_side.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/vectors/vector_space.h"

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
    VectorSpace make_space() const { return VectorSpace(level().block, level().communicator); }
    template <typename Number>
    LaplaceOperator<Number> make_operator() const
    {
      return {level(), system.basis, system.backend};
    }
    BoxSolver make_direct() const { return {level(), system.basis, system.parameters.problem}; }
    auto make_preconditioner(const MultigridOptions &options) const
    {
      return make_multigrid(system.grid, system.basis, system.backend, options);
    }
    VectorType make_vector() const { return VectorType(level().block); }
    VectorType restricted(const LevelGrid &fine, const LevelGrid &coarse, const VectorType &x) const
    {
      VectorType result(coarse.block);
      TransferOperator<double>(fine, coarse, system.basis, system.backend)
          .restrict_to(result, x, 1.);
      return result;
    }
    VectorType right_hand_side() const
    {
      const Problem &problem = system.parameters.problem;
      const Balance found = check_compatible(problem, level(), system.basis);
      VectorType b;
      assemble_right_hand_side(problem, level(), system.basis, b);
      if (problem.is_singular())
      {
        subtract_mean(b);
        tell_of_removed_mean(system, found);
      }
      return b;
    }
    VectorType initial_guess() const
    {
      VectorType x;
      project_initial_guess(system.parameters.problem, level(), system.basis, x);
      return x;
    }
    Errors errors(const VectorType &x) const
    {
      return compute_errors(system.parameters.problem, level(), system.basis, x);
    }
    double max_abs(const VectorType &x) const { return make_space().max_abs(x); }
    static void scale(VectorType &x, int exponent)
    {
      for (std::int64_t i = 0; i < x.size(); ++i)
        x[i] = std::ldexp(x[i], exponent);
    }
    void subtract_mean(VectorType &x) const { tensormg::subtract_mean(level(), system.basis, x); }
    void check_memory(const SolverOptions &options) const
    {
      tensormg::check_memory(system.grid, options, available_memory());
    }
    static std::unique_ptr<LaunchProfile> make_profile() { return nullptr; }
    static std::optional<double> joules() { return std::nullopt; }
    void wait() const {}
  };
} // namespace

Vector<double> solve_on_host(const System &system, RunRecord &record)
{
  const HostPlace place{system};
  return on_level_of_output(
      system.parameters.output, system.grid, place, solve_in(system, place, record));
}
} // namespace tensormg
