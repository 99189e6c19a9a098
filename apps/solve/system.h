// What a run of `tensormg solve` works on, wherever its vectors lie.
#pragma once

#include <cmath>
#include <cstddef>
#include <stdexcept>

#include <mpi.h>

#include "apps/common/console.h"
#include "apps/common/report.h"
#include "apps/common/run_record.h"
#include "apps/parameters/checks.h"
#include "apps/parameters/parameters.h"
#include "kernels/basis/cell_basis.h"
#include "kernels/laplace/laplace.h"
#include "operators/data/functions.h"
#include "operators/data/right_hand_side.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"
#include "solvers/concepts.h"

namespace tensormg
{
/// Time that includes what the slowest rank needs.
inline double now(MPI_Comm communicator)
{
  MPI_Barrier(communicator);
  return MPI_Wtime();
}

/// The largest resident sizes of all ranks, summed.
inline double peak_memory_of_all(MPI_Comm communicator)
{
  double bytes = peak_memory();
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, communicator);
  return bytes;
}

/// Calls `f`; what it says about its arguments are words about the user's parameters.
template <typename Function>
auto with_user_data(const Parameters &parameters, const Function &f)
{
  try
  {
    return f();
  }
  catch (const ExpressionError &error)
  {
    fail_for(parameters, error);
  }
  catch (const std::invalid_argument &error)
  {
    throw ParameterError(error.what());
  }
  catch (const std::length_error &error)
  {
    throw ParameterError(error.what());
  }
}

/// The grid, the system B u = b on it, and who reports.
struct System
{
  const Parameters &parameters;
  const SolverOptions &solver; ///< RunRecord::solver
  const Grid &grid;
  const CellBasis &basis;
  laplace::Backend backend;
  Console &console;

  /// With what make_grid() and the coefficients of the cells have made of that of the parameters.
  const Problem &problem() const { return grid.problem; }
  MPI_Comm communicator() const { return grid.communicator; }
  const SolverOptions &options() const { return solver; }
  bool is_direct() const { return solver.solver == OuterSolver::direct; }
  /// Whether the iteration starts from a function of the user.
  bool has_guess() const { return !problem().initial_guess.empty() && !is_direct(); }

  IterationCallback callback() const
  {
    return [&console = console, previous = 0.](int iteration, double residual) mutable {
      console.normal(iteration_text(iteration, residual, previous));
      previous = residual;
    };
  }
};

/// A line, unless it is nothing but rounding.
inline void tell_of_removed_mean(const System &system, const Balance &found)
{
  constexpr double rounding = 1e-12;
  if (!(std::abs(found.defect()) > rounding))
    return;
  const Problem &problem = system.problem();
  double volume = 1.;
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d)
    volume *= problem.upper[d] - problem.lower[d];
  system.console.normal("the mean of the right-hand side and the fluxes, " +
      format_number(found.integral / volume) + " (" + format_number(std::abs(found.defect())) +
      " of that of their magnitudes), was removed: no side is dirichlet\n");
}

/// Evaluates the right-hand side, solves by the method that the parameters name, and measures errors; what
/// happened goes to the record. Returns the solution.
Vector<double> solve_on_host(const System &system, RunRecord &record);
/// The same in device memory. The result is that on the finest level of part_of_output(), empty if no output asks for it.
Vector<double> solve_on_device(const System &system, RunRecord &record);
} // namespace tensormg
