#include "apps/solve/solve.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <system_error>

#include "apps/common/backend_choice.h"
#include "apps/common/host_cores.h"
#include "apps/common/memory_plan.h"
#include "apps/common/output.h"
#include "apps/common/program.h"
#include "apps/common/report.h"
#include "apps/parameters/fields.h"
#include "apps/parameters/mesh.h"
#include "apps/solve/blocks.h"
#include "apps/solve/system.h"
#include "kernels/basis/make_cell_basis.h"
#include "kernels/core/setup_times.h"
#include "operators/cellwise/cell_coefficients.h"
#include "operators/constant/level_choices.h"
#include "operators/multigrid/coarsening_choice.h"
#include "operators/multigrid/multigrid_preconditioner.h"

namespace tensormg
{
namespace
{
  /// Writes all files; trouble with the field does not keep the record from being written, which tells of it. x: on the
  /// finest level of `grid`.
  void write_files(const System &system, const Grid &grid, const Vector<double> &x, double begin,
      RunRecord &record)
  {
    std::exception_ptr trouble;
    try
    {
      write_probe_lines(record, system.communicator(), system.console);
      write_field(record, grid, system.basis, x, system.console);
    }
    catch (const std::exception &error)
    {
      trouble = std::current_exception();
      record.files_trouble = error.what();
    }
    record.total_seconds = now(system.communicator()) - begin;
    write_record(record, system.communicator());
    if (trouble)
      std::rethrow_exception(trouble);
  }

  /// The direct solver and exact directions take the eigenvectors of a line, with a time that grows with the cube of its unknowns.
  void announce_lines(const System &system, bool on_device)
  {
    const bool has_cells = system.grid.finest().cells != nullptr;
    if (has_cells && !choose_coarsening(system.grid, system.options().multigrid).whole_grid)
      return; // nothing of this kind
    constexpr std::int64_t long_line = 1500, most_exact_cells = 7;
    constexpr double seconds_of_cube = 2e-10; // on one core of a server
    const std::size_t level = has_cells || system.options().solver == OuterSolver::direct
        ? system.grid.levels.size() - 1
        : on_device ? coarsest_level<DeviceContext>(system.grid)
                    : 0;
    const auto &cells = system.grid.levels[level].global_cells;
    std::int64_t longest = *std::max_element(cells.begin(), cells.end());
    std::int64_t exact = 0; // the most cells of an exact direction
    for (std::size_t l = level + 1; l < system.grid.levels.size(); ++l)
      for (int d = 0; d < system.parameters.problem.dim; ++d)
        if (const LevelGrid &here = system.grid.levels[l]; here.exact[d])
          exact = std::max(exact, here.global_cells[d]);
    if (exact > most_exact_cells)
      system.console.warning(
          "problem.coarse_cells: an odd number of short cells is not halved, and "
          "the smoother solves whole lines of " +
          std::to_string(exact) + " cells; even numbers, best powers of two, take less time");
    longest = std::max(longest, exact) * (system.parameters.problem.degree + 1);
    if (longest > long_line)
      system.console.normal("setup of direct solvers: lines of " + std::to_string(longest) +
          " unknowns, some " +
          number_text(seconds_of_cube * std::pow(static_cast<double>(longest), 3)) + " s\n");
  }

  /// The user's choice, but it may fail.
  void warn_of_precision(const System &system)
  {
    const SolverOptions &options = system.options();
    if (options.solver != OuterSolver::direct &&
        options.multigrid.precision != Precision::double_precision &&
        needs_double(system.grid, system.basis))
      system.console.warning(std::string("multigrid.precision = ") +
          to_string(options.multigrid.precision) +
          ": cells this flat make a condition number of some " +
          number_text(condition_number(system.grid, system.basis)) +
          ", of which it may hold too little; auto and double hold more");
  }

  /// Where a solve takes place, and what is there.
  struct Stage
  {
    Grid grid;
    CellBasis basis;
    BackendChoice choice;
    double start_seconds = 0.; ///< of the device
    double available = 0.;     ///< bytes of memory

    bool on_device() const { return laplace::is_device_backend(choice.backend); }
    /// The grid of the output, as far as it is copied from a device.
    Grid written(const OutputOptions &output) const
    {
      return on_device() ? part_of_output(grid, output) : grid_of_output(grid, output);
    }
  };

  Stage make_stage(const Parameters &parameters, MPI_Comm communicator)
  {
    const Problem &problem = parameters.problem;
    Stage stage;
    stage.grid = setup_times::in_scope("grid",
        [&] { return make_grid(problem, communicator, division_for_devices(parameters.solver)); });
    const double gridded = now(communicator);
    setup_times::pause();
    const SolveRanks ranks = ranks_of(stage.grid);
    stage.choice = choose_backend(parameters, ranks);
    setup_times::resume();
    if (stage.on_device() && ranks.of_node > 1)
      stay_near_device(device_properties().place_on_bus);
    stage.start_seconds = now(communicator) - gridded;
    if (!stage.on_device() && stage.grid.n_ranks > 1) // otherwise nothing is divided
      stage.grid = setup_times::in_scope("grid", [&] { return make_grid(problem, communicator); });
    stage.basis =
        setup_times::in_scope("cell basis", [&] { return make_cell_basis(problem.degree); });
    setup_times::in_scope("coefficients", [&] {
      with_user_data(parameters, [&] { add_cell_coefficients(stage.grid, stage.basis); });
    });
    stage.available =
        stage.on_device() ? static_cast<double>(free_device_bytes()) : available_memory();
    return stage;
  }

  /// What is known before anything is computed: the plan of memory and the device.
  RunRecord begin_solve(const Parameters &parameters, const Stage &stage)
  {
    const Grid &grid = stage.grid;
    RunRecord record = setup_times::in_scope("record of the run", [&] {
      return with_user_data(parameters,
          [&] { return begin_record(parameters, grid, laplace::to_string(stage.choice.backend)); });
    });
    record.memory_place = stage.on_device() ? MemoryPlace::device : MemoryPlace::host;
    record.memory = make_memory_plan(grid, record.solver, record.memory_place);
    record.budget = make_memory_budget(record.memory.bytes(), stage.available, grid.communicator,
        part_of_node(record.memory_place));
    if (stage.on_device())
    {
      record.device = setup_times::in_scope("properties of the device", device_properties);
      record.device_start_seconds = stage.start_seconds;
    }
    return record;
  }

  template <typename Number>
  std::string kernel_text(const System &system, laplace::Form form, const std::string &name)
  {
    const Problem &problem = system.parameters.problem;
    const laplace::Choice<Number> kernel =
        laplace::choose<Number>(system.backend, form, problem.dim, problem.degree);
    return "  " + name + ": " + laplace::to_string(kernel.backend) + ", " + kernel.reason + '\n';
  }

  /// Which kernels serve the solve, and why.
  std::string kernels_text(const System &system)
  {
    using laplace::Form;
    const SolverOptions &options = system.options();
    std::string text = "kernels\n";
    text += options.has_single_basis()
        ? kernel_text<WideFloat>(system, Form::apply, "B u, stored in single")
        : kernel_text<double>(system, Form::apply, "B u in double");
    if (options.solver == OuterSolver::direct)
      return text;
    const auto of_cycle = [&](auto number) {
      using Number = decltype(number);
      text += kernel_text<Number>(system, Form::residual, "residual of the cycle") +
          kernel_text<Number>(system, Form::chebyshev, "step of the smoother");
    };
    switch (bytes_per_number(options.multigrid.precision))
    {
      case sizeof(double):
        of_cycle(double{});
        break;
      case sizeof(Half):
        of_cycle(Half{});
        break;
      default:
        of_cycle(float{});
    }
    return text;
  }

  /// What the user should know before the solve; throws ParameterError where it cannot be.
  void check_and_announce(const System &system, const Stage &stage, const RunRecord &record)
  {
    const Grid &grid = system.grid;
    const BackendChoice &choice = stage.choice;
    Console &console = system.console;
    const bool on_device = stage.on_device();
    console.normal(header_text(record, console.is_verbose()));
    if (on_device && console.is_verbose())
      console.normal(kernels_text(system));
    // Several ranks are a choice of the user's; a device of no use to one rank is told in a quiet run, too.
    if (!choice.reason.empty() && grid.n_ranks > 1)
      console.normal("the GPU is not used: " + choice.reason + '\n');
    else if (!choice.reason.empty())
      console.warning("the GPU is not used: " + choice.reason);
    check_memory(grid, record.solver, stage.available, record.memory_place);
    if (grid.n_ranks > 1 && grid.finest().replicated)
      console.warning("the grid is too small for " + std::to_string(grid.n_ranks) +
          " ranks: every rank computes all of it");
    for (const std::string &warning : warnings_of_fields(system.parameters))
      console.warning(warning);
    warn_of_precision(system);
    announce_lines(system, on_device);
  }

  /// How the solve went, on the console.
  void report_solve(const RunRecord &record, Console &console)
  {
    if (record.report.dropped_start)
      console.warning("the residual of the full-multigrid start was larger than that of zero: the "
                      "iteration started from zero");
    console.normal(
        setup_text(record) + levels_text(record) + summary_text(record, console.is_verbose()));
    if (console.is_quiet())
      console.result(result_line(record));
    if (const std::string doubt = doubt_text(record); !doubt.empty())
      console.warning(doubt);
  }
} // namespace

RunRecord run_solve(const Parameters &parameters, MPI_Comm communicator, Console &console)
{
  if (has_blocks(parameters))
    return run_solve_on_blocks(parameters, communicator, console);
  setup_times::reset();
  setup_times::resume();
  const double begin = now(communicator);
  const OutputDirectory directory(parameters.output.directory, communicator);
  const Stage stage = make_stage(parameters, communicator);
  RunRecord record = begin_solve(parameters, stage);
  const System system{
      parameters, record.solver, stage.grid, stage.basis, stage.choice.backend, console};
  const Grid written = stage.written(parameters.output);
  check_and_announce(system, stage, record);
  check_output(parameters.output, written, console);
  forget_record(parameters.output.directory, communicator);

  setup_times::pause();
  record.setup_seconds = now(communicator) - begin - record.device_start_seconds;
  const Vector<double> x =
      stage.on_device() ? solve_on_device(system, record) : solve_on_host(system, record);
  record.setup_parts = setup_times::parts();
  record.peak_memory_bytes = peak_memory_of_all(communicator);

  measure_solution(record, stage.grid, stage.basis, x);
  report_solve(record, console);
  console.normal(probes_text(record) + probe_lines_text(record));
  write_files(system, written, x, begin, record);
  console.normal(files_text(record));
  if (!record.report.converged())
    console.error("the solve did not converge (" + std::string(to_string(record.report.reason)) +
        (record.report.detail.empty() ? "" : ": " + record.report.detail) +
        (record.report.is_rounding ? ")" : "): the solution must not be used"));
  return record;
}

void dry_run_solve(const Parameters &parameters, MPI_Comm communicator, Console &console)
{
  if (has_blocks(parameters))
    return dry_run_on_blocks(parameters, communicator, console);
  foresee_directory(parameters.output.directory, communicator);
  const Stage stage = make_stage(parameters, communicator);
  RunRecord record = begin_solve(parameters, stage);
  const System system{
      parameters, record.solver, stage.grid, stage.basis, stage.choice.backend, console};
  const Grid written = stage.written(parameters.output);
  check_and_announce(system, stage, record);
  if (stage.on_device() && !has_no_field(parameters.output, written))
    check_memory(written, record.solver, available_memory(), MemoryPlace::beside_device);
  const Balance balance = with_user_data(parameters,
      [&] { return check_compatible(parameters.problem, stage.grid.finest(), stage.basis); });
  tell_of_removed_mean(system, balance);
  foresee_files(written, record, console);
  console.result("dry run: no mistake was found; nothing was solved or written\n");
}

namespace
{
  /// What the first rank has come to: an exit code, or its negative where f has thrown.
  int tell(int code, MPI_Comm all)
  {
    MPI_Bcast(&code, 1, MPI_INT, 0, all);
    return code;
  }

  /// f() on the first rank, whose exit code is that of all; what it throws is thrown on all.
  int on_first_rank_alone(MPI_Comm all, const std::function<int(MPI_Comm)> &f)
  {
    int rank = 0;
    MPI_Comm_rank(all, &rank);
    if (rank > 0)
    {
      const int code = tell(0, all);
      if (code == -exit_parameters)
        throw ParameterError("on the first rank");
      if (code == -exit_device_failed)
        throw DeviceError("on the first rank");
      if (code < 0)
        throw std::runtime_error("on the first rank");
      return code;
    }
    try
    {
      return tell(f(MPI_COMM_SELF), all);
    }
    catch (const ParameterError &)
    {
      tell(-exit_parameters, all);
      throw;
    }
    catch (const DeviceError &)
    {
      tell(-exit_device_failed, all);
      throw;
    }
    catch (...)
    {
      tell(-exit_unexpected, all);
      throw;
    }
  }

  double dofs_of(const Problem &problem)
  {
    double dofs = std::pow(problem.degree + 1., problem.dim);
    for (int d = 0; d < problem.dim; ++d)
      dofs *= static_cast<double>(problem.cells(d));
    return dofs;
  }
} // namespace

int with_ranks_of_solves(const std::vector<Parameters> &solves, MPI_Comm all, Console &console,
    const std::function<int(MPI_Comm)> &f)
{
  std::string reason;
  const bool on_blocks = has_blocks(solves.front());
  if (on_blocks)
    reason = why_one_device_of_blocks(solves.front().backend, all);
  for (std::size_t i = 0; i < solves.size() && reason.empty() && !on_blocks; ++i)
    if (const Parameters &p = solves[i];
        i == 0 || dofs_of(p.problem) > p.solver.multigrid.replicated_dofs)
      reason = why_one_device(p.problem, p.solver, p.backend, all);
  if (reason.empty())
    return f(all);
  console.normal("one GPU is used: " + reason + '\n');
  return on_first_rank_alone(all, f);
}

int solve_program(const Parameters &parameters, MPI_Comm all, Console &console)
{
  return with_ranks_of_solves({parameters}, all, console,
      [&](MPI_Comm ranks) { return exit_code(run_solve(parameters, ranks, console)); });
}

int dry_run_program(const Parameters &parameters, MPI_Comm all, Console &console)
{
  return with_ranks_of_solves({parameters}, all, console, [&](MPI_Comm ranks) {
    dry_run_solve(parameters, ranks, console);
    return 0;
  });
}
} // namespace tensormg
