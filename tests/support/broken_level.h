// A run of `tensormg solve` in which the operator of one multigrid level is not that of its mesh.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "apps/common/backend_choice.h"
#include "apps/solve/system.h"
#include "kernels/basis/make_cell_basis.h"
#include "tests/support/sine_problem.h"
#include "tests/support/temporary_directory.h"

namespace tensormg::test
{
/// 8 x 8 cells of degree 3 and three refinements of them: multigrid levels 0 to 3.
inline Parameters problem_with_levels(const TemporaryDirectory &directory)
{
  Parameters parameters = sine_problem(directory);
  parameters.problem.coarse_cells = {8, 8, 1};
  return parameters;
}

/// The solve of `parameters` with cells of level `broken` that seem to be so many times as long in x.
inline RunRecord solve_with_broken_level(
    const Parameters &parameters, std::size_t broken, double factor)
{
  Grid grid = make_grid(parameters.problem, MPI_COMM_SELF);
  LevelGrid &level = grid.levels.at(broken);
  const Axis &axis = level.axis[0];
  level.axis[0] =
      Axis(axis.lower(), axis.lower() + factor * (axis.upper() - axis.lower()), axis.cells());
  const CellBasis basis = make_cell_basis(parameters.problem.degree);
  Console console = Console::silent(MPI_COMM_SELF);
  const laplace::Backend backend = choose_backend(parameters).backend;
  const System system{parameters, parameters.solver, grid, basis, backend, console};
  RunRecord record = begin_record(parameters, grid, laplace::to_string(backend));
  if (laplace::is_device_backend(backend))
  {
    record.device = device_properties();
    solve_on_device(system, record);
  }
  else
    solve_on_host(system, record);
  return record;
}

/// What is no number.
inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// The run ends, with exit code 5, saying that the operator of this level is wrong.
inline void expect_named(const RunRecord &record, std::size_t level)
{
  EXPECT_EQ(record.report.reason, StopReason::not_finite);
  EXPECT_EQ(exit_code(record.report.reason), 5);
  EXPECT_NE(record.report.detail.find(
                "of multigrid level " + std::to_string(level) + " (0 is the coarsest of 4)"),
      std::string::npos)
      << record.report.detail;
}
} // namespace tensormg::test
