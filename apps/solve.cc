#include "apps/solve.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <stdexcept>

#include "apps/output.h"
#include "apps/report.h"
#include "operators/box_solver.h"
#include "operators/cell_basis.h"
#include "operators/errors.h"
#include "operators/laplace_operator.h"
#include "operators/multigrid_preconditioner.h"
#include "operators/right_hand_side.h"
#include "operators/vector_space.h"
#include "solvers/cg.h"
#include "solvers/fgmres.h"

namespace tensormg
{
namespace
{
  /// Time that includes what the slowest rank needs.
  double now(MPI_Comm communicator)
  {
    MPI_Barrier(communicator);
    return MPI_Wtime();
  }

  /// Calls `f`; what it says about its arguments are words about the user's parameters.
  template <typename Function>
  auto with_user_data(const Function &f)
  {
    try
    {
      return f();
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
    const Grid &grid;
    const CellBasis &basis;
    laplace::Backend backend;
    Console &console;

    MPI_Comm communicator() const { return grid.communicator; }
    const SolverOptions &options() const { return parameters.solver; }

    IterationCallback callback() const
    {
      return [&console = console, previous = 0.](int iteration, double residual) mutable {
        console.normal(iteration_text(iteration, residual, previous));
        previous = residual;
      };
    }
  };

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

  /// x = B^-1 b, then corrections from the residual as long as they help.
  SolveReport refine_directly(const VectorSpace &space, LaplaceOperator<double> &op,
      BoxSolver &solver, Vector<double> &x, const Vector<double> &b, double tolerance,
      const IterationCallback &callback)
  {
    constexpr int max_solves = 4;
    SolveReport report;
    report.reason = StopReason::converged;
    const double norm_b = space.norm(b);
    report.residuals = {norm_b};
    if (norm_b == 0.)
      return report;
    callback(0, 1.);
    Vector<double> r = space.make_vector(), correction = space.make_vector();
    space.axpby(1., b, 0., r);
    double residual = norm_b;
    while (residual > tolerance * norm_b && report.iterations < max_solves)
    {
      solver.solve(correction, r);
      space.axpby(1., correction, 1., x);
      op.residual(r, x, b);
      const double before = residual;
      residual = space.norm(r);
      ++report.iterations;
      report.residuals.push_back(residual);
      callback(report.iterations, residual / norm_b);
      if (!(residual < 0.5 * before))
        break;
    }
    report.true_relative_residual = residual / norm_b;
    if (!std::isfinite(residual))
    {
      report.reason = StopReason::not_finite;
      report.detail = "the residual of the direct solve is NaN or Inf";
    }
    else if (report.true_relative_residual > std::max(tolerance, direct_tolerance))
    {
      report.reason = StopReason::stagnated;
      report.detail = "rounding limits the direct solve to " +
          format_residual(report.true_relative_residual) + "; fgmres may reach a smaller residual";
    }
    return report;
  }

  void solve_directly(
      const System &system, const Vector<double> &b, Vector<double> &x, RunRecord &record)
  {
    const LevelGrid &level = system.grid.finest();
    const double begin = now(system.communicator());
    const VectorSpace space(level);
    LaplaceOperator<double> op(level, system.basis, system.backend);
    BoxSolver solver =
        with_user_data([&] { return BoxSolver(level, system.basis, system.parameters.problem); });
    const double ready = now(system.communicator());
    record.setup_seconds += ready - begin;
    record.tolerance = std::max(system.options().tolerance, direct_tolerance);
    record.rhs_norm = space.norm(b);
    record.report =
        refine_directly(space, op, solver, x, b, system.options().tolerance, system.callback());
    record.report.seconds = now(system.communicator()) - ready;
  }

  /// The times of the slowest rank.
  LevelTimes slowest(const LevelTimes &times, MPI_Comm communicator)
  {
    std::array<double, 3> seconds{times.smoothing, times.transfer, times.coarse};
    MPI_Allreduce(MPI_IN_PLACE, seconds.data(), 3, MPI_DOUBLE, MPI_MAX, communicator);
    return {seconds[0], seconds[1], seconds[2], times.visits};
  }

  /// Solves B e = b - B x for the error e by one cycle, which is right up to its reduction factor.
  void estimate_algebraic_error(const System &system, const VectorSpace &space,
      LaplaceOperator<double> &op, MultigridPreconditioner &multigrid, const Vector<double> &b,
      const Vector<double> &x, RunRecord &record)
  {
    const LevelGrid &level = system.grid.finest();
    Vector<double> r = space.make_vector(), e = space.make_vector();
    op.residual(r, x, b);
    const double norm = space.norm(r);
    if (norm > 0.)
      multigrid.apply(e, r, norm);
    if (system.parameters.problem.is_singular())
      subtract_mean(level, system.basis, e);
    double volume = 1.;
    for (int d = 0; d < level.block.dim; ++d)
      volume *= level.cell_size[static_cast<std::size_t>(d)];
    // The modes are orthonormal on the reference cell, and e'Be is H^2 times |grad e|^2 with jumps.
    record.algebraic_l2_error = std::sqrt(volume) * space.norm(e);
    record.algebraic_h1_error =
        std::sqrt(volume * std::max(space.dot(e, r), 0.)) / level.reference_length();
  }

  void solve_iteratively(
      const System &system, const Vector<double> &b, Vector<double> &x, RunRecord &record)
  {
    const LevelGrid &level = system.grid.finest();
    const SolverOptions &options = system.options();
    const double begin = now(system.communicator());
    const VectorSpace space(level);
    LaplaceOperator<double> op(level, system.basis, system.backend);
    const auto multigrid = with_user_data([&] {
      return make_multigrid(system.grid, system.basis, system.backend, options.multigrid);
    });
    std::optional<ConjugateGradients<VectorSpace>> cg;
    std::optional<Fgmres<VectorSpace>> fgmres;
    if (options.solver == OuterSolver::cg)
      cg.emplace(space, options.tolerance, options.max_iterations);
    else
      fgmres.emplace(space, options.tolerance, options.max_iterations, options.restart);
    const double ready = now(system.communicator());
    record.setup_seconds += ready - begin;

    record.rhs_norm = space.norm(b);
    if (options.full_multigrid && record.rhs_norm > 0.)
      multigrid->full_start(x, b, record.rhs_norm);
    record.report = cg ? cg->solve(op, *multigrid, x, b, system.callback())
                       : fgmres->solve(op, *multigrid, x, b, system.callback());
    record.report.seconds = now(system.communicator()) - ready;

    for (std::size_t l = 0; l < record.levels.size(); ++l)
      record.levels[l].times = slowest(multigrid->times().at(l), system.communicator());
    // Their vectors make room for those of the estimate: the memory plan has no others.
    cg.reset();
    fgmres.reset();
    if (record.report.reason != StopReason::not_finite)
      estimate_algebraic_error(system, space, op, *multigrid, b, x, record);
    if (multigrid->lambda_max() > 0.)
      record.lambda_max = multigrid->lambda_max();
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
  const std::string backend_word = parameters.backend == "auto" ? "cpu" : parameters.backend;
  const System system{parameters, grid, basis, laplace::backend_from_string(backend_word), console};

  RunRecord record = begin_record(parameters, grid, laplace::to_string(system.backend));
  const double available = available_memory();
  record.memory = make_memory_plan(grid, parameters.solver);
  record.budget = make_memory_budget(record.memory.bytes(), available, communicator);
  console.normal(header_text(record, console.is_verbose()));
  check_memory(grid, parameters.solver, available);
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
  if (parameters.solver.solver == OuterSolver::direct)
    solve_directly(system, b, x, record);
  else
    solve_iteratively(system, b, x, record);
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
