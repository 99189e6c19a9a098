#include "apps/solve/blocks.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/backend_choice.h"
#include "apps/common/output.h"
#include "apps/common/report.h"
#include "apps/parameters/mesh.h"
#include "apps/parameters/text.h"
#include "apps/solve/system.h"
#include "kernels/core/setup_times.h"
#include "operators/analysis/block_probes.h"
#include "operators/analysis/cell_shape.h"
#include "operators/analysis/function_norms.h"
#include "operators/block_solver/block_memory.h"
#include "operators/block_solver/block_solve.h"
#include "operators/block_solver/block_solver.h"
#include "operators/blocks/block_mesh.h"
#include "operators/mesh/sums_over_ranks.h"
#include "operators/output/block_output.h"
#include "operators/output/stale_files.h"
#include "operators/pointwise/block_numbers.h"
#include "operators/pointwise/block_problem.h"
#include "operators/pointwise/block_right_hand_side.h"
#include "operators/solver/available_memory.h"
#include "tensormg/solver.h"

namespace tensormg
{
namespace
{
  /// f(); what is wrong with the mesh is about the user's parameters, too.
  template <typename F>
  auto with_mesh(const Parameters &parameters, const F &f)
  {
    try
    {
      return f();
    }
    catch (const CoefficientError &error)
    {
      std::string key = error.of == CoefficientError::Of::diffusion ? "problem.coefficient"
          : error.of == CoefficientError::Of::reaction              ? "problem.reaction"
                                                                    : "boundary.conditions";
      if (error.of == CoefficientError::Of::robin && parameters.mesh.type == MeshType::mapped)
        key = std::string("boundary.") + side_names[static_cast<std::size_t>(error.boundary)] +
            "_robin_coefficient";
      fail_for(parameters, {key}, error.what());
    }
    catch (const MemoryError &error)
    {
      std::vector<std::string> keys{"problem.coarse_cells"};
      if (parameters.mesh.type == MeshType::generate)
        keys = {"mesh.generator_arguments"};
      else if (parameters.mesh.type == MeshType::file)
        keys = {"mesh.file"};
      fail_for(parameters, keys, error.what());
    }
    catch (const MeshError &error)
    {
      const std::string key = parameters.mesh.type == MeshType::mapped ? "mesh.map"
          : parameters.mesh.type == MeshType::file                     ? "mesh.file"
                                                                       : "mesh.generator";
      std::vector<std::string> keys{key};
      if (parameters.mesh.type == MeshType::generate)
        keys.emplace_back("mesh.generator_arguments");
      fail_for(parameters, keys, error.what());
    }
    catch (const ExpressionError &error)
    {
      fail_for(parameters, error);
    }
    catch (const std::invalid_argument &error)
    {
      throw ParameterError(error.what());
    }
  }

  std::string source_text(const MeshOptions &mesh, int dim)
  {
    switch (mesh.type)
    {
      case MeshType::mapped:
        return "a box moved by (" + write_map(mesh.map, dim) + ')';
      case MeshType::generate:
        return mesh.generator + '(' + mesh.generator_arguments + ')';
      default:
        return mesh.file;
    }
  }

  /// What the programs know of levels, with one box of equal cells in place of the mesh.
  Grid grid_of(const BlockProblem &problem, MPI_Comm communicator)
  {
    Grid grid;
    grid.communicator = communicator;
    MPI_Comm_rank(communicator, &grid.rank);
    MPI_Comm_size(communicator, &grid.n_ranks);
    grid.ranks_per_direction[0] = grid.n_ranks;
    grid.problem.dim = problem.problem.dim;
    grid.problem.degree = problem.problem.degree;
    grid.problem.refinements = problem.problem.refinements;
    grid.problem.coarse_cells = {problem.blocks.n_blocks(), 1, 1};
    const std::int64_t blocks = problem.blocks.n_blocks();
    bool is_coarsest =
        degrees_of_blocks(problem.problem.dim, problem.problem.degree, blocks).size() == 1;
    for (int l = 0; l <= problem.problem.refinements; ++l, is_coarsest = false)
    {
      LevelGrid &level = grid.levels.emplace_back(stacked_grid(
          BlockLevel{std::int64_t{1} << l, 1}.cells(problem.geometry, problem.problem.degree)));
      const bool is_divided =
          !is_coarsest && are_divided(level.block, blocks, grid.n_ranks, replicated_dofs_of_blocks);
      level.replicated = grid.n_ranks > 1 && !is_divided;
      level.communicator = is_divided ? communicator : MPI_COMM_SELF;
    }
    return grid;
  }

  Grid checked_grid(
      const Parameters &parameters, const BlockProblem &problem, MPI_Comm communicator)
  {
    if (dofs_of(problem) > most_dofs_of_blocks)
      fail_for(parameters, {"problem.refinements", "problem.degree"},
          "these are more than 10^15 degrees of freedom");
    return grid_of(problem, communicator);
  }

  void check_memory(
      const Parameters &parameters, const BlockProblem &problem, const RunRecord &record)
  {
    if (record.budget.fits())
      return;
    int fits = -1;
    const bool on_device = record.memory_place == MemoryPlace::device;
    BlockSizes sizes = sizes_of(problem, record.ranks);
    const int splits = parameters.problem.refinements - sizes.refinements; // of the mesh, for ranks
    while (--sizes.refinements >= 0 && fits < 0)
      if (make_memory_plan(sizes, record.solver, record.memory_place).bytes() *
              record.budget.ranks <=
          MemoryBudget::usable_part * record.budget.available)
        fits = splits + sizes.refinements;
    fail_for(parameters, {"problem.refinements", "problem.degree"},
        "the solve needs " + format_bytes(record.budget.needed) + " of memory" +
            (on_device ? " of the GPU" : "") + ", and " + format_bytes(record.budget.available) +
            " are available; allowed: " +
            (fits < 0 ? "a mesh with fewer blocks"
                      : "problem.refinements = " + std::to_string(fits) + " or less") +
            ", or a lower degree" + (on_device ? ", or operator.backend = cpu" : ""));
  }

  /// Of what a solve on a device has on the host.
  void check_host_memory(
      const Parameters &parameters, const BlockProblem &problem, const RunRecord &record)
  {
    const MemoryBudget budget = make_memory_budget(
        make_memory_plan(sizes_of(problem, record.ranks), record.solver, MemoryPlace::beside_device)
            .bytes(),
        available_memory(), MPI_COMM_SELF);
    if (!budget.fits())
      fail_for(parameters, {"problem.refinements", "problem.degree"},
          "beside the GPU the solve needs " + format_bytes(budget.needed) +
              " of memory of the host, and " + format_bytes(budget.available) +
              " are available; allowed: fewer refinements, or a lower degree");
  }

  /// The levels of multigrid that a Grid does not know, as long as nothing is known about the coefficients.
  void foresee_levels(const BlockProblem &problem, RunRecord &record)
  {
    const Problem &p = problem.problem;
    const std::int64_t blocks = problem.blocks.n_blocks();
    const bool vertices = record.solver.multigrid.coarsening == Coarsening::vertices;
    const LevelRecord finest = record.levels.back();
    if (vertices)
      record.levels = {finest};
    std::vector<LevelRecord> lower;
    for (const int degree :
        vertices ? degrees_on_vertices(p.degree) : degrees_of_blocks(p.dim, p.degree, blocks))
      if (degree < p.degree)
      {
        const Block block(
            p.dim, degree, vertices ? finest.cells : std::array<std::int64_t, 3>{blocks, 1, 1});
        lower.push_back({block.cells, block.dofs(),
            (vertices || !lower.empty()) &&
                are_divided(block, blocks, record.ranks, replicated_dofs_of_blocks),
            {}});
      }
    record.levels.insert(record.levels.begin(), lower.begin(), lower.end());
  }

  /// Those that there are.
  std::vector<LevelRecord> records_of(const BlockLevels &levels)
  {
    std::vector<LevelRecord> result;
    for (const BlockLevels::Level &level : levels.levels())
      result.push_back(
          {level.grid.global_cells, level.grid.global_dofs(), level.shared != nullptr, {}});
    return result;
  }

  RunRecord begin(const Parameters &parameters, const BlockProblem &problem, const Grid &grid,
      const BackendChoice &choice)
  {
    RunRecord record = begin_record(parameters, grid, laplace::to_string(choice.backend));
    if (laplace::is_device_backend(choice.backend))
    {
      record.memory_place = MemoryPlace::device;
      record.device = device_properties();
    }
    foresee_levels(problem, record);
    record.is_singular = problem.is_singular();
    record.solver.basis_precision = BasisPrecision::double_precision;
    const BlockSizes sizes = with_mesh(parameters, [&] { return sizes_of(problem, grid.n_ranks); });
    record.memory = make_memory_plan(sizes, record.solver, record.memory_place);
    record.budget = make_memory_budget(record.memory.bytes(), available_at(record.memory_place),
        grid.communicator, part_of_node(record.memory_place));
    MeshRecord &mesh = record.mesh.emplace();
    mesh.source = source_text(parameters.mesh, parameters.problem.dim);
    mesh.blocks = problem.blocks.n_blocks();
    mesh.per_direction = std::int64_t{1} << problem.problem.refinements;
    mesh.mapping_degree = problem.mapping_degree;
    return record;
  }

  std::array<double, 3> middle_of_cell(
      const BlockProblem &problem, const BlockLevels::Level &level, std::int64_t number)
  {
    const Block &block = level.grid.block;
    const std::int64_t n = level.shape.per_direction, x = number % block.cells[0];
    const std::array<std::int64_t, 3> cell{
        x % n, number / block.cells[0] % block.cells[1], number / block.cells[0] / block.cells[1]};
    std::array<std::vector<double>, 3> middle;
    for (std::size_t d = 0; d < 3; ++d)
      middle[d] = {(static_cast<double>(cell[d]) + 0.5) / static_cast<double>(n)};
    return problem.geometry.points(level.shape.first + x / n, middle).front();
  }

  /// Of the cells of all ranks.
  void record_quality(
      const BlockProblem &problem, const BlockLevels::Level &finest, MeshRecord &mesh)
  {
    const MPI_Comm communicator = finest.grid.communicator;
    const auto &cells = finest.metric.of_cells();
    std::array<double, 2> sums{0., static_cast<double>(cells.size())};
    std::size_t worst = 0;
    for (std::size_t c = 0; c < cells.size(); ++c)
    {
      sums[0] += cells[c].quality;
      worst = cells[c].quality < cells[worst].quality ? c : worst;
    }
    sum_in_order(sums, communicator);
    mesh.mean_quality = sums[0] / sums[1];
    mesh.largest_kappa = finest.metric.largest_kappa();
    MPI_Allreduce(MPI_IN_PLACE, &mesh.largest_kappa, 1, MPI_DOUBLE, MPI_MAX, communicator);
    struct
    {
      double quality;
      int rank;
    } least{cells[worst].quality, 0};
    MPI_Comm_rank(communicator, &least.rank);
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, communicator);
    mesh.least_quality = least.quality;
    mesh.worst = middle_of_cell(problem, finest, static_cast<std::int64_t>(worst));
    MPI_Bcast(mesh.worst.data(), 3, MPI_DOUBLE, least.rank, communicator);
  }

  /// What the levels and the numbers of a solution know of the mesh.
  void record_mesh(const BlockProblem &problem, const BlockLevels &levels,
      const BlockNumbers &numbers, MeshRecord &mesh)
  {
    record_quality(problem, levels.levels().back(), mesh);
    mesh.shape = shape_of_mesh(problem.geometry, levels.levels().back());
    mesh.volume = numbers.volume;
    mesh.right_hand_side = numbers.source;
    mesh.reaction = numbers.reaction;
    mesh.defect = numbers.defect();
    mesh.magnitude = numbers.magnitude;
    mesh.flux_scale = std::numeric_limits<double>::infinity();
    for (const auto &[boundary, scale] : numbers.flux_scales)
      if (scale > 0.)
        mesh.flux_scale = std::min(mesh.flux_scale, scale);
    for (const double part : {numbers.source, numbers.reaction})
      if (part != 0.)
        mesh.flux_scale = std::min(mesh.flux_scale, std::abs(part));
    for (const auto &[number, condition] : problem.conditions)
      if (numbers.areas.contains(number))
        mesh.boundaries.push_back({number, problem.boundary_name(number), condition_text(condition),
            numbers.areas.at(number), numbers.fluxes.at(number)});
    for (const auto &[number, material] : numbers.materials)
      mesh.materials.push_back(
          {number, problem.material_name(number), material.volume, material.integral});
  }

  void tell_of_levels(const RunRecord &record, Console &console)
  {
    console.normal("coarse       " + record.mesh->coarse_solver + '\n');
    console.normal("             " + record.mesh->coarsening + '\n');
    if (const int levels = record.mesh->linear_levels; levels > 0)
      console.normal("             on the coarsest " +
          std::string(levels == 1 ? "level" : std::to_string(levels) + " levels") +
          " cells of that degree fold: they have the geometry of degree 1 there\n");
    if (record.parameters.problem.refinements == 0)
      console.warning(
          "problem.refinements = 0: coarser levels have lower degrees and the vertices of the mesh at most; a coarser mesh that is "
          "refined is solved faster");
  }

  /// The problem, its levels, and what is said before the solve.
  class BlockStage
  {
  public:
    BlockStage(const Parameters &parameters, MPI_Comm communicator, Console &console)
      : problem_(with_mesh(parameters,
            [&] {
              return make_divided_problem(parameters.problem, parameters.mesh, communicator);
            }))
      , grid_(checked_grid(parameters, problem_, communicator))
      , choice_(choose_in_time(parameters, communicator))
      , record(begin(parameters, problem_, grid_, choice_))
    {
      record.device_start_seconds = record.device ? device_seconds_ : 0.;
      console.normal(header_text(record, console.is_verbose()));
      if (!choice_.reason.empty())
        console.normal("the GPU is not used: " + choice_.reason + '\n');
      check_memory(parameters, problem_, record);
      if (record.device)
        check_host_memory(parameters, problem_, record);
      if (grid_.finest().replicated)
        console.warning("the mesh is too small for " + std::to_string(grid_.n_ranks) +
            " ranks: every rank computes all of it");
    }
    void make_levels()
    {
      const auto [plan, budget] =
          plan_of_vertices(problem_, record.solver, grid_.communicator, record.memory_place);
      const bool has_room =
          has_room_for_vertices(problem_, record.solver, grid_.communicator, record.memory_place);
      levels_ = with_mesh(record.parameters, [&] {
        return tensormg::make_levels(
            problem_, grid_.communicator, record.solver.multigrid.coarsening, has_room);
      });
      for (const BlockLevels::Level &level : levels_->levels())
        record.mesh->linear_levels +=
            level.shape.mapping_degree < std::min(problem_.mapping_degree, level.basis.n - 1) ? 1
                                                                                              : 0;
      const BlockCoarsening &coarsening = levels_->coarsening();
      record.mesh->coarsening =
          (coarsening.vertices ? "vertices: " : "cells: ") + coarsening.reason;
      record.mesh->coarse_solver = levels_->coarse_text();
      record.levels = records_of(*levels_);
      if (coarsening.vertices)
      {
        record.memory = plan;
        record.budget = budget;
      }
    }

    const BlockProblem &problem() const { return problem_; }
    const BlockLevels &levels() const { return *levels_; }
    const Grid &grid() const { return grid_; }

  private:
    BackendChoice choose_in_time(const Parameters &parameters, MPI_Comm communicator)
    {
      const double begin = MPI_Wtime();
      BackendChoice choice = choose_backend_of_blocks(parameters, communicator);
      device_seconds_ = MPI_Wtime() - begin;
      return choice;
    }

    BlockProblem problem_;
    Grid grid_;
    double device_seconds_ = 0.; ///< of its start
    BackendChoice choice_;
    std::unique_ptr<BlockLevels> levels_;

  public:
    RunRecord record;
  };

  void check_single_levels(const BlockStage &stage)
  {
    const auto finest = static_cast<int>(stage.levels().levels().size()) - 1;
    if (stage.record.solver.multigrid.single_levels > finest)
      fail_for(stage.record.parameters, {"multigrid.single_levels"},
          "the finest level, number " + std::to_string(finest) +
              ", keeps multigrid.precision; allowed: at most " + std::to_string(finest));
  }

  void check_finite(const Parameters &parameters, const Vector<double> &b, MPI_Comm communicator)
  {
    if (!std::isfinite(VectorSpace(b.block(), communicator).max_abs(b)))
      fail_for(parameters, {"problem.right_hand_side", "problem.coefficient", "mesh.type"},
          "the right-hand side of the system, with the sizes of the cells and the values on boundaries, leaves the range of double "
          "precision");
  }

  void check_probes(const BlockStage &stage)
  {
    const Parameters &parameters = stage.record.parameters;
    const auto &points = parameters.output.probes;
    const std::vector<bool> inside = are_inside(stage.problem(), stage.levels(), points);
    for (std::size_t p = 0; p < points.size(); ++p)
      if (!inside[p])
        fail_for(parameters, {"output.probes"},
            "the point " + point_text(points[p], parameters.problem.dim) +
                " lies outside of the mesh; allowed: points of its cells, whose sides are polynomials");
    for (std::size_t l = 0; l < parameters.output.probe_lines.size(); ++l)
    {
      const std::vector<bool> of_line =
          are_inside(stage.problem(), stage.levels(), parameters.output.probe_lines[l].points());
      if (std::find(of_line.begin(), of_line.end(), true) == of_line.end())
        fail_for(parameters, {"output.probe_lines"},
            "no point of line " + std::to_string(l + 1) +
                " lies in the mesh; allowed: lines with points in it");
    }
  }

  /// "rows of cells: directions of a cell differ by up to 40"
  std::string relaxation_text(const RelaxationChoice &choice)
  {
    const std::string what = choice.cells && choice.lines ? "cells and rows of cells"
        : choice.cells                                    ? "cells"
        : choice.lines                                    ? "rows of cells"
                                                          : "the diagonal";
    return what + ": " + choice.reason;
  }

  /// "one metric per cell: it varies in a cell by up to 1.02"
  std::string operator_text(const OperatorChoice &choice)
  {
    return std::string(choice.is_cell_mean ? "one metric per cell: " : "the metric at points: ") +
        choice.reason;
  }

  void record_cycles(BlockStage &stage, const BlockSolver &solver, ScaledSolve &solve)
  {
    RunRecord &record = stage.record;
    record.precision = solver.options().multigrid.precision;
    record.single_levels = solver.options().multigrid.single_levels;
    const std::vector<LevelTimes> times = solver.times();
    for (std::size_t l = 0; l < record.levels.size(); ++l)
      record.levels[l].times = times.at(l);
    record.lambda_max = solver.lambda_max();
    if (record.report.reason == StopReason::not_finite)
      return;
    const FunctionNorms error = function_norms(stage.problem(), stage.levels(), solve.error());
    record.algebraic_l2_error = error.l2;
    record.algebraic_h1_error = error.h1_seminorm;
  }

  /// From the right-hand side to the solution.
  Vector<double> solve_on_blocks(BlockStage &stage, Console &console)
  {
    RunRecord &record = stage.record;
    const Parameters &parameters = record.parameters;
    const BlockProblem &problem = stage.problem();
    const BlockLevels &levels = stage.levels();
    double begin = MPI_Wtime();
    BlockRightHandSide right_hand_side = with_user_data(parameters, [&] {
      BlockRightHandSide result = assemble_block_right_hand_side(problem, levels);
      make_compatible(problem, levels, result);
      return result;
    });
    Vector<double> &b = right_hand_side.b;
    Vector<double> x(b.block());
    const bool has_guess = !problem.problem.initial_guess.empty();
    check_finite(parameters, b, levels.communicator());
    const auto make_start = [&] {
      x = with_user_data(parameters, [&] {
        return project(problem, levels, "problem.initial_guess", problem.problem.initial_guess);
      });
    };
    if (has_guess)
      make_start();
    record.rhs_seconds = MPI_Wtime() - begin;

    begin = MPI_Wtime();
    setup_times::resume();
    SolverOptions options = record.solver;
    options.multigrid.precision =
        parameters.solver.multigrid.precision; // the levels may ask for double
    const std::unique_ptr<BlockSolver> solver = with_mesh(parameters, [&] {
      return make_block_solver(levels, options, x, b, record.memory_place,
          {.level_times = parameters.output.level_times, .one_allocation = true});
    });
    setup_times::pause();
    record.setup_seconds += MPI_Wtime() - begin;
    if (record.solver.multigrid.precision != solver->options().multigrid.precision)
      console.normal(
          "             the cycle is in double precision: entries of the diagonal differ by " +
          format_number(diagonal_range(levels)) + ", coefficients of neighbours by up to " +
          format_number(solver->relaxation().jump) + '\n');
    record.mesh->relaxation = relaxation_text(solver->relaxation());
    console.normal("             smoothed by " + record.mesh->relaxation + '\n');
    record.mesh->cycle_operator = operator_text(solver->cycle_operator());
    console.normal("             the cycle has " + record.mesh->cycle_operator + '\n');
    SolveEvents events;
    events.iteration = [&console, previous = 0.](int iteration, double residual) mutable {
      console.normal(iteration_text(iteration, residual, previous));
      previous = residual;
    };
    events.restarts = [&](const std::string &text) { console.warning(text); };
    events.restore_start = make_start;
    ScaledSolve solve(*solver, x, b);
    record.report = solve.run(has_guess ? Start::given : Start::zero, events);
    record.rhs_norm = record.report.rhs_norm;
    record_cycles(stage, *solver, solve);
    solve.finish();
    if (levels.is_singular())
      subtract_mean(problem, levels, x);
    return x;
  }

  void measure_on_blocks(BlockStage &stage, const Vector<double> &x, Console &console)
  {
    RunRecord &record = stage.record;
    const Parameters &parameters = record.parameters;
    if (record.report.reason == StopReason::not_finite)
      return;
    with_user_data(parameters, [&] {
      const BlockNumbers numbers = solution_numbers(stage.problem(), stage.levels(), x);
      record_mesh(stage.problem(), stage.levels(), numbers, *record.mesh);
      record.numbers = {numbers.integral, numbers.integral / numbers.volume, numbers.minimum,
          numbers.maximum, numbers.l2_norm, {}};
      record.probes = values_at(stage.problem(), stage.levels(), x, parameters.output.probes);
      for (const LineProbe &line : parameters.output.probe_lines)
        record.probe_lines.push_back(values_at(stage.problem(), stage.levels(), x, line.points()));
      if (parameters.problem.exact_solution.empty())
        return;
      const Errors errors = compute_errors(stage.problem(), stage.levels(), x);
      if (std::isfinite(errors.l2))
        record.l2_error = errors.l2;
      else
        console.warning(
            "no error is shown: problem.exact_solution is infinite or not a number somewhere");
      if (errors.has_h1 && std::isfinite(errors.h1_seminorm))
        record.h1_error = errors.h1_seminorm;
    });
  }

  /// That the files can be written, and whether there will be a VTU.
  void check_files(const BlockStage &stage, Console &console)
  {
    const OutputOptions &output = stage.record.parameters.output;
    Console silent = Console::silent(MPI_COMM_SELF); // it advises what boxes have
    check_output(output, stage.grid(), silent);
    if (const auto reason = refuse_output(stage.problem(), field_options(output));
        output.write_vtu && reason)
      console.warning("the solution will not be written for ParaView (output.vtu_max_cells = " +
          std::to_string(output.vtu_max_cells) + "): " + *reason +
          "; output.write_vtu = false asks for no file");
  }

  void write_vtu(
      const BlockStage &stage, RunRecord &record, const Vector<double> &x, Console &console)
  {
    const OutputOptions &output = record.parameters.output;
    const bool converged = record.report.converged();
    FieldOutputOptions options = field_options(output);
    options.converged = converged;
    if (!output.write_vtu || record.report.reason == StopReason::not_finite ||
        refuse_output(stage.problem(), options))
      return;
    const FieldOutput written = write_field_output(stage.problem(), stage.levels(), x,
        field_base(output, converged), stage.grid().communicator, options);
    record.files.push_back(written.path);
    on_first_rank(
        stage.grid().communicator, [&] { remove_stale_files(field_base(output, !converged), 0); });
    if (!written.in_double.empty())
      console.normal("fields       " + join(written.in_double, ", ") +
          " in double precision, since single would not show the values\n");
  }
} // namespace

RunRecord run_solve_on_blocks(
    const Parameters &parameters, MPI_Comm communicator, Console &console, const UseOfBlocks &use)
{
  setup_times::reset();
  setup_times::resume();
  const double begin = MPI_Wtime();
  const OutputDirectory directory(parameters.output.directory, communicator);
  BlockStage stage(parameters, communicator, console);
  RunRecord &record = stage.record;
  check_files(stage, console);
  forget_record(parameters.output.directory, communicator);
  stage.make_levels();
  setup_times::pause();
  record.setup_seconds = MPI_Wtime() - begin - record.device_start_seconds;
  tell_of_levels(record, console);
  check_single_levels(stage);
  check_probes(stage);

  const Vector<double> x = solve_on_blocks(stage, console);
  record.setup_parts = setup_times::parts();
  record.peak_memory_bytes = peak_memory_of_all(communicator);
  measure_on_blocks(stage, x, console);
  if (use && record.report.reason != StopReason::not_finite)
    use(stage.problem(), stage.levels(), x);
  console.normal(setup_text(record) + levels_text(record) +
      summary_text(record, console.is_verbose()) + mesh_text(record, true) + probes_text(record) +
      probe_lines_text(record));
  if (console.is_quiet())
    console.result(result_line(record));
  if (const std::string doubt = doubt_text(record); !doubt.empty())
    console.warning(doubt);
  std::exception_ptr trouble;
  try
  {
    write_probe_lines(record, communicator, console);
    write_vtu(stage, record, x, console);
  }
  catch (const std::exception &error)
  {
    trouble = std::current_exception();
    record.files_trouble = error.what();
  }
  record.total_seconds = MPI_Wtime() - begin;
  write_record(record, communicator);
  console.normal(files_text(record));
  if (!record.report.converged())
    console.error("the solve did not converge (" + std::string(to_string(record.report.reason)) +
        (record.report.detail.empty() ? "" : ": " + record.report.detail) +
        (record.report.is_rounding ? ")" : "): the solution must not be used"));
  if (trouble)
    std::rethrow_exception(trouble);
  return record;
}

Errors errors_of_zero_on_blocks(const Parameters &parameters)
{
  Parameters on_host = parameters;
  on_host.backend = "cpu"; // nothing is solved
  Console silent = Console::silent(MPI_COMM_SELF);
  BlockStage stage(on_host, MPI_COMM_SELF, silent);
  stage.make_levels();
  return with_user_data(parameters, [&] {
    return compute_errors(
        stage.problem(), stage.levels(), Vector<double>(stage.levels().levels().back().grid.block));
  });
}

void dry_run_on_blocks(const Parameters &parameters, MPI_Comm communicator, Console &console)
{
  foresee_directory(parameters.output.directory, communicator);
  BlockStage stage(parameters, communicator, console);
  stage.make_levels();
  check_single_levels(stage);
  check_probes(stage);
  RunRecord &record = stage.record;
  with_user_data(parameters, [&] {
    BlockRightHandSide right_hand_side =
        assemble_block_right_hand_side(stage.problem(), stage.levels());
    make_compatible(stage.problem(), stage.levels(), right_hand_side);
    check_finite(parameters, right_hand_side.b, stage.levels().communicator());
    if (const std::string &guess = parameters.problem.initial_guess; !guess.empty())
      static_cast<void>(project(stage.problem(), stage.levels(), "problem.initial_guess", guess));
    record_mesh(stage.problem(), stage.levels(),
        solution_numbers(stage.problem(), stage.levels(),
            Vector<double>(stage.levels().levels().back().grid.block)),
        *record.mesh);
  });
  console.normal(mesh_text(record, false));
  tell_of_levels(record, console);
  foresee_files(stage.grid(), record, console);
  console.result("dry run: no mistake was found; nothing was solved or written\n");
}
} // namespace tensormg
