#include "operators/multigrid/device_kernels_ahead.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <system_error>
#include <utility>

#include "kernels/device/device_reservation.h"
#include "kernels/device/kernel_loading.h"
#include "operators/constant/laplace_operator.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/vectors/device_vector_space.h"
#include "solvers/cg.h"
#include "solvers/fgmres.h"
#include "solvers/mixed_operator.h"

namespace tensormg
{
namespace
{
  /// For all vectors of small_grid(): 90 of 4 x 4 x 4 cells of p = 8.
  constexpr std::int64_t most_memory = std::int64_t(1) << 25;

  /// Two levels, or one if the solve has no smoother, of as many cells as every kind of boundary needs.
  Grid small_grid(const Grid &grid, bool smooths)
  {
    Problem problem = grid.problem;
    for (int d = 0; d < problem.dim; ++d)
      problem.coarse_cells[d] = 2;
    problem.refinements = smooths ? 1 : 0;
    return make_grid(problem, MPI_COMM_SELF);
  }

  /// Called when everything is loaded, while all memory is still held.
  using Loaded = std::function<void(bool all)>;

  template <typename V, typename Operator>
  void load_method(const DeviceVectorSpace &space, Operator &op,
      DeviceMultigridPreconditioner &multigrid, const SolverOptions &options, const Loaded &loaded)
  {
    constexpr double any_tolerance = 0.5;
    constexpr int steps = 8; // each number of vectors has kernels of its own
    DeviceVector<double> x = space.make_vector(), b = space.make_vector();
    if (options.solver == OuterSolver::cg)
    {
      ConjugateGradients<DeviceVectorSpace, V> method(space, any_tolerance, steps);
      method.prepare(op, multigrid, x, b);
      loaded(true);
    }
    else
    {
      Fgmres<DeviceVectorSpace, V> method(
          space, any_tolerance, steps, std::min(options.restart, steps));
      method.prepare(op, multigrid, x, b, steps);
      loaded(true);
    }
  }

  /// What SystemSolver prepares.
  void load_all(const Grid &grid, const CellBasis &basis, laplace::Backend backend,
      const SolverOptions &options, const Loaded &loaded)
  {
    const DeviceReservation memory(most_memory);
    const OwnedStream stream;
    const KernelLoading instead_of_running(stream.get());
    const LevelGrid &level = grid.finest();
    const DeviceVectorSpace space(level.block, level.communicator, stream.get());
    LaplaceOperator<double, DeviceContext> op(level, basis, backend, stream.get());
    if (grid.problem.is_cellwise())
      return loaded(false); // kernels of cells, which this grid has not
    if (options.solver == OuterSolver::direct)
    {
      DeviceVector<double> r = space.make_vector(), x = space.make_vector();
      op.residual(r, x, x);
      return loaded(false);
    }
    const auto multigrid = make_multigrid(
        grid, basis, backend, options.multigrid, stream.get(), {.longest_direct_line = 0});
    multigrid->load_kernels(options.full_multigrid);
    if (options.has_single_basis())
    {
      LaplaceOperator<WideFloat, DeviceContext> products(level, basis, backend, stream.get());
      MixedOperator both(op, products);
      load_method<DeviceVector<WideFloat>>(space, both, *multigrid, options, loaded);
    }
    else
      load_method<DeviceVector<double>>(space, op, *multigrid, options, loaded);
  }
} // namespace

DeviceKernelsAhead::DeviceKernelsAhead(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const SolverOptions &options)
{
  const bool smooths = coarsest_level<DeviceContext>(grid) + 1 < grid.levels.size();
  std::promise<bool> promise;
  are_loaded_ = promise.get_future();
  auto load = [=, small = small_grid(grid, smooths), end = end_.get_future(),
                  are_loaded = std::move(promise), device = device_properties().number]() mutable {
    bool has_said = false;
    try
    {
      use_device(device); // each thread chooses for itself
      load_all(small, basis, backend, options, [&](bool all) {
        has_said = true;
        are_loaded.set_value(all);
        end.wait();
      });
    }
    catch (const std::exception &)
    {
      if (!has_said)
        are_loaded.set_value(
            false); // the solve launches these kernels itself and says what is wrong
    }
  };
  try
  {
    thread_ = std::thread(std::move(load));
  }
  catch (const std::system_error &)
  {
    are_loaded_ = {}; // no thread is to be had: the kernels are loaded when they are launched
  }
}

DeviceKernelsAhead::~DeviceKernelsAhead()
{
  end_.set_value();
  if (thread_.joinable())
    thread_.join();
}

bool DeviceKernelsAhead::wait() const { return are_loaded_.valid() && are_loaded_.get(); }
} // namespace tensormg
