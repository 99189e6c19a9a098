#include "apps/solve.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <stdexcept>

#include "apps/backend_choice.h"
#include "apps/output.h"
#include "apps/report.h"
#include "apps/solve_methods.h"
#include "operators/cell_basis.h"
#include "operators/errors.h"
#include "operators/right_hand_side.h"

namespace tensormg
{
namespace
{
  /// Divides b by a power of two, which is returned, if the square of its norm could leave the range
  /// of double precision: a norm that underflows would pass for b = 0.
  double bring_into_range(Vector<double> &b, MPI_Comm communicator)
  {
    double largest = 0.;
    for (std::int64_t i = 0; i < b.size(); ++i)
      largest = std::max(largest, std::abs(b[i]));
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, communicator);
    if (largest == 0. || !std::isfinite(largest) || (largest > 1e-100 && largest < 1e100))
      return 1.;
    const int exponent = std::ilogb(largest);
    for (std::int64_t i = 0; i < b.size(); ++i)
      b[i] = std::ldexp(b[i], -exponent);
    return std::ldexp(1., exponent);
  }

  /// Undoes that for the solution and what has been measured with b.
  void scale_back(double factor, Vector<double> &x, RunRecord &record)
  {
    if (factor == 1.)
      return;
    for (std::int64_t i = 0; i < x.size(); ++i)
      x[i] *= factor;
    record.rhs_norm *= factor;
    for (double &residual : record.report.residuals)
      residual *= factor;
    for (std::optional<double> *error : {&record.algebraic_l2_error, &record.algebraic_h1_error})
      if (*error)
        **error *= factor;
  }

  Vector<double> make_right_hand_side(const System &system)
  {
    const Problem &problem = system.parameters.problem;
    const LevelGrid &level = system.grid.finest();
    return with_user_data([&] {
      Vector<double> b;
      check_compatible(problem, level, system.basis);
      assemble_right_hand_side(problem, level, system.basis, b);
      if (problem.is_singular())
        subtract_mean(level, system.basis, b);
      return b;
    });
  }

  /// The solvers promise this; nobody shall be told of a success that is none.
  void verify_success(const RunRecord &record)
  {
    const double residual = record.report.true_relative_residual;
    if (record.report.converged() && !(residual <= record.tolerance))
      throw std::logic_error("the solver reports convergence, but the residual is " +
          format_residual(residual) + " and the tolerance " + format_residual(record.tolerance));
  }

  void measure_errors(const System &system, const Vector<double> &x, RunRecord &record)
  {
    const Problem &problem = system.parameters.problem;
    if (problem.exact_solution.empty())
      return;
    const Errors errors = with_user_data(
        [&] { return compute_errors(problem, system.grid.finest(), system.basis, x); });
    const bool of_a_solution = record.report.reason != StopReason::not_finite;
    const auto keep = [&](std::optional<double> &to, double error, const std::string &key) {
      if (std::isfinite(error))
        to = error;
      else if (of_a_solution)
        system.console.warning(
            "no error is shown: " + key + " is infinite or not a number somewhere in the box");
    };
    keep(record.l2_error, errors.l2, "problem.exact_solution");
    if (errors.has_h1)
      keep(record.h1_error, errors.h1_seminorm, "problem.exact_gradient");
  }

  double peak_memory_of_all(MPI_Comm communicator)
  {
    double bytes = peak_memory();
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, communicator);
    return bytes;
  }

  /// Writes all files; trouble with the field does not keep the record from being written.
  void write_files(const System &system, const Vector<double> &x, double begin, RunRecord &record)
  {
    std::exception_ptr trouble;
    const bool is_finite = record.report.reason != StopReason::not_finite;
    if (system.parameters.output.write_vtu && is_finite)
      try
      {
        record.files =
            write_field(system.parameters.output, system.grid, system.basis, x, system.console);
      }
      catch (const std::exception &)
      {
        trouble = std::current_exception();
      }
    record.total_seconds = now(system.communicator()) - begin;
    write_record(record, system.communicator());
    if (trouble)
      std::rethrow_exception(trouble);
  }
} // namespace

RunRecord run_solve(const Parameters &parameters, MPI_Comm communicator, Console &console)
{
  const double begin = now(communicator);
  prepare_directory(parameters.output.directory, communicator);
  const Problem &problem = parameters.problem;
  const Grid grid = make_grid(problem, communicator);
  const CellBasis basis = make_cell_basis(problem.degree);
  const BackendChoice choice = choose_backend(parameters, grid.n_ranks);
  const System system{parameters, grid, basis, choice.backend, console};
  const bool on_device = laplace::is_device_backend(choice.backend);

  RunRecord record = begin_record(parameters, grid, laplace::to_string(system.backend));
  const MemoryPlace place = on_device ? MemoryPlace::device : MemoryPlace::host;
  const double available =
      on_device ? static_cast<double>(free_device_bytes()) : available_memory();
  record.memory = make_memory_plan(grid, parameters.solver, place);
  record.budget = make_memory_budget(record.memory.bytes(), available, communicator);
  record.memory_place = place;
  if (on_device)
    record.device = device_properties();
  console.normal(header_text(record, console.is_verbose()));
  if (!choice.reason.empty())
    console.normal("the GPU is not used: " + choice.reason + '\n');
  check_memory(grid, parameters.solver, available, place);
  if (on_device) // what is copied there and back
    check_memory(grid, parameters.solver, available_memory(), MemoryPlace::beside_device);
  if (grid.n_ranks > 1 && grid.finest().replicated)
    console.warning("the grid is too small for " + std::to_string(grid.n_ranks) +
        " ranks: every rank computes all of it");

  forget_record(parameters.output.directory, communicator);

  const double prepared = now(communicator);
  record.setup_seconds = prepared - begin;
  Vector<double> b = make_right_hand_side(system);
  const double factor = bring_into_range(b, grid.finest().communicator);
  record.rhs_seconds = now(communicator) - prepared;

  Vector<double> x(grid.finest().block);
  if (on_device)
    solve_on_device(system, b, x, record);
  else
    solve_on_host(system, b, x, record);
  verify_success(record);
  scale_back(factor, x, record);
  if (problem.is_singular())
    subtract_mean(grid.finest(), basis, x);
  measure_errors(system, x, record);
  record.peak_memory_bytes = peak_memory_of_all(communicator);

  console.normal(levels_text(record) + summary_text(record, console.is_verbose()));
  if (console.is_quiet())
    console.result(result_line(record));
  write_files(system, x, begin, record);
  console.normal(files_text(record));
  if (!record.report.converged())
    console.error("the solve did not converge (" + std::string(to_string(record.report.reason)) +
        (record.report.detail.empty() ? "" : ": " + record.report.detail) +
        "): the solution must not be used");
  return record;
}

int solve_program(const Parameters &parameters, MPI_Comm communicator, Console &console)
{
  return exit_code(run_solve(parameters, communicator, console).report.reason);
}
} // namespace tensormg
