#include "operators/device_kernels_ahead.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "kernels/core/kernel_loading.h"
#include "operators/device_laplace_operator.h"
#include "operators/device_multigrid.h"
#include "operators/device_vector_space.h"
#include "solvers/cg.h"
#include "solvers/fgmres.h"
#include "solvers/mixed_operator.h"

namespace tensormg
{
namespace
{
  /// Two levels, or one if the solve has no smoother, of as many cells as every kind of boundary needs.
  Grid small_grid(const Grid &grid, bool smooths)
  {
    Problem problem = grid.problem;
    for (int d = 0; d < problem.dim; ++d)
      problem.coarse_cells[d] = 2;
    problem.refinements = smooths ? 1 : 0;
    return make_grid(problem, MPI_COMM_SELF);
  }

  template <typename V, typename Operator>
  void load_method(const DeviceVectorSpace &space, Operator &op,
      DeviceMultigridPreconditioner &multigrid, const SolverOptions &options)
  {
    constexpr double any_tolerance = 0.5;
    constexpr int steps = 8; // each number of vectors has kernels of its own
    DeviceVector<double> x = space.make_vector(), b = space.make_vector();
    if (options.solver == OuterSolver::cg)
      ConjugateGradients<DeviceVectorSpace, V>(space, any_tolerance, steps)
          .prepare(op, multigrid, x, b);
    else
      Fgmres<DeviceVectorSpace, V>(space, any_tolerance, steps, std::min(options.restart, steps))
          .prepare(op, multigrid, x, b, steps);
  }

  /// What iterate() of apps/solve_methods.h prepares.
  void load_all(const Grid &grid, const CellBasis &basis, laplace::Backend backend,
      const SolverOptions &options)
  {
    const OwnedStream stream;
    const KernelLoading instead_of_running;
    const LevelGrid &level = grid.finest();
    const DeviceVectorSpace space(level, stream.get());
    DeviceLaplaceOperator<double> op(level, basis, backend, stream.get());
    if (options.solver == OuterSolver::direct)
    {
      DeviceVector<double> r = space.make_vector(), x = space.make_vector();
      op.residual(r, x, x);
      return;
    }
    const auto multigrid = make_device_multigrid(
        grid, basis, backend, options.multigrid, stream.get(), {.longest_direct_line = 0});
    multigrid->load_kernels(options.full_multigrid);
    if (options.has_single_basis())
    {
      DeviceLaplaceOperator<WideFloat> products(level, basis, backend, stream.get());
      MixedOperator both(op, products);
      load_method<DeviceVector<WideFloat>>(space, both, *multigrid, options);
    }
    else
      load_method<DeviceVector<double>>(space, op, *multigrid, options);
  }
} // namespace

DeviceKernelsAhead::DeviceKernelsAhead(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const SolverOptions &options)
{
  const bool smooths = device_coarsest_level(grid) + 1 < grid.levels.size();
  try
  {
    loading_ = std::async(std::launch::async, [=, small = small_grid(grid, smooths)] {
      try
      {
        load_all(small, basis, backend, options);
        return options.solver != OuterSolver::direct;
      }
      catch (const std::exception &)
      {
        return false; // the solve itself launches these kernels and says what is wrong
      }
    });
  }
  catch (const std::system_error &)
  {
    // No thread is to be had: the kernels are loaded when they are launched.
  }
}

bool DeviceKernelsAhead::wait() const { return loading_.valid() && loading_.get(); }
} // namespace tensormg
