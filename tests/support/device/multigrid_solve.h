// A problem that the tests of multigrid solve in device memory with the methods and options they ask about, and in host memory.
#pragma once

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/constant/laplace_operator.h"
#include "operators/data/device_functions.h"
#include "operators/data/right_hand_side.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/vectors/device_vector_space.h"
#include "operators/vectors/vector_space.h"
#include "solvers/fgmres.h"
#include "solvers/mixed_operator.h"
#include "tests/support/boxes.h"
#include "tests/support/guarded.h"

namespace tensormg::test
{
/// One problem with a right-hand side, solved in host and in device memory.
struct DeviceSolve
{
  Problem problem;
  CellBasis basis = make_cell_basis(problem.degree);
  Grid grid = make_grid(problem, MPI_COMM_SELF);
  const LevelGrid &level = grid.finest();
  OwnedStream stream;
  VectorSpace host_space{level.block, level.communicator};
  DeviceVectorSpace space{level.block, level.communicator, stream.get()};
  LaplaceOperator<double> host_op{level, basis, laplace::Backend::cpu};
  LaplaceOperator<WideFloat> host_products{level, basis, laplace::Backend::cpu};
  LaplaceOperator<double, DeviceContext> op{level, basis, laplace::Backend::cuda, stream.get()};
  LaplaceOperator<WideFloat, DeviceContext> products{
      level, basis, laplace::Backend::cuda, stream.get()};
  Vector<double> host_b = hashed_vector<double>(level, 1);
  DeviceVector<double> b = space.make_vector(), x = space.make_vector();
  laplace::Backend backend = laplace::Backend::cuda; ///< of the preconditioner

  explicit DeviceSolve(const Problem &problem_)
    : problem(problem_)
  {
    copy_to_device(host_b, b, stream.get());
    if (problem.is_singular())
    {
      subtract_mean_on_device(level, basis, b, space);
      copy_to_host(b, host_b, stream.get());
    }
  }
  DeviceSolve(const DeviceSolve &) = delete;

  /// All levels, as in host memory.
  auto make(const MultigridOptions &options, bool level_times = false) const
  {
    return make_multigrid(grid, basis, backend, options, stream.get(),
        {.longest_direct_line = 0, .level_times = level_times});
  }

  Vector<double> solution() const
  {
    Vector<double> result(level.block);
    copy_to_host(x, result, stream.get());
    return result;
  }

  template <typename Method, typename Operator>
  SolveReport run(Method &&method, Operator &a, DeviceMultigridPreconditioner &multigrid)
  {
    device::fill_bytes(x.data(), 0, x.size() * sizeof(double), stream.get());
    return method.solve(a, multigrid, x, b);
  }
  /// With a basis in double precision.
  SolveReport fgmres(DeviceMultigridPreconditioner &multigrid)
  {
    return run(Fgmres<DeviceVectorSpace>(space, 1e-8, 40, 30), op, multigrid);
  }
  /// With one in single precision.
  SolveReport short_basis(DeviceMultigridPreconditioner &multigrid)
  {
    MixedOperator both(op, products);
    return run(
        Fgmres<DeviceVectorSpace, DeviceVector<WideFloat>>(space, 1e-8, 40, 10), both, multigrid);
  }

  /// Against the same solve in host memory; the precision of the basis is the default of that of the cycle.
  void compare(const MultigridOptions &options)
  {
    const auto multigrid = make(options);
    const auto host_multigrid = make_multigrid(grid, basis, laplace::Backend::cpu, options);
    const bool is_short = options.precision != Precision::double_precision;
    const SolveReport report = is_short ? short_basis(*multigrid) : fgmres(*multigrid);
    EXPECT_TRUE(report.converged()) << report.detail;
    Vector<double> expected(level.block);
    MixedOperator both(host_op, host_products);
    const SolveReport host_report = is_short
        ? Fgmres<VectorSpace, Vector<WideFloat>>(host_space, 1e-8, 40, 10)
              .solve(both, *host_multigrid, expected, host_b)
        : Fgmres<VectorSpace>(host_space, 1e-8, 40, 30)
              .solve(host_op, *host_multigrid, expected, host_b);
    EXPECT_NEAR(report.iterations, host_report.iterations, 1);
    EXPECT_NEAR(multigrid->lambda_max(), host_multigrid->lambda_max(), 1e-10);
    if (problem.is_singular()) // there, only up to a constant
    {
      subtract_mean_on_device(level, basis, x, space);
      subtract_mean(level, basis, expected);
    }
    EXPECT_LT(relative_difference(solution(), expected), 1e-6);
  }
};

inline MultigridOptions with(Precision precision)
{
  MultigridOptions options;
  options.precision = precision;
  return options;
}
} // namespace tensormg::test
