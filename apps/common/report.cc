#include "apps/common/report.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <set>
#include <sstream>

#include "apps/common/console.h"
#include "apps/parameters/mesh.h"
#include "apps/parameters/table.h"
#include "apps/parameters/text.h"
#include "apps/parameters/words.h"
#include "operators/output/field_output.h"
#include "version.h"

namespace tensormg
{
namespace
{
  /// "name      text" with all texts in one column, or a further line of the same text.
  std::string line(const std::string &name, const std::string &text)
  {
    constexpr std::size_t width = 13;
    return name + std::string(width - name.size(), ' ') + text + '\n';
  }

  std::string plural(std::int64_t n, const std::string &noun)
  {
    return format_count(n) + ' ' + noun + (n == 1 ? "" : "s");
  }

  std::string box_text(const Problem &problem)
  {
    std::string text;
    for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d)
      text += (d > 0 ? " x (" : "(") + to_text(problem.lower[d]) + ", " +
          to_text(problem.upper[d]) + ')';
    return text;
  }

  /// "sizes of cells: x from 0.001 to 0.1; y 0.5"
  std::string sizes_text(const Problem &problem)
  {
    std::vector<std::string> parts;
    for (int d = 0; d < problem.dim; ++d)
    {
      double least = problem.cell_size(d), most = least;
      for (std::int64_t c = 0; problem.is_graded(d) && c < problem.cells(d); ++c)
      {
        const double size = problem.corner(d, c + 1) - problem.corner(d, c);
        least = std::min(least, size);
        most = std::max(most, size);
      }
      parts.push_back(std::string(1, "xyz"[d]) +
          (problem.is_graded(d) ? " from " + format_number(least) + " to " : " ") +
          format_number(most));
    }
    return "sizes of cells: " + join(parts, "; ");
  }

  std::string boundary_text(const Problem &problem)
  {
    const std::size_t n_sides = 2 * static_cast<std::size_t>(problem.dim);
    const std::set<BoundaryKind> kinds(
        problem.boundary.begin(), problem.boundary.begin() + problem.dim * 2);
    if (kinds.size() == 1)
      return to_word(*kinds.begin()) + " on all sides";
    std::vector<std::string> parts;
    for (const BoundaryKind kind : kinds)
    {
      std::vector<std::string> sides;
      for (std::size_t s = 0; s < n_sides; ++s)
        if (problem.boundary[s] == kind)
          sides.emplace_back(side_names[s]);
      parts.push_back(to_word(kind) + " on " + join(sides, ", "));
    }
    return join(parts, "; ");
  }

  std::string method_text(const SolverOptions &solver, const CoarseningChoice &coarsening)
  {
    if (solver.solver == OuterSolver::direct)
      return "direct, by fast diagonalisation of the whole grid";
    const MultigridOptions &multigrid = solver.multigrid;
    std::string text = to_word(solver.solver) + " to " + format_number(solver.tolerance);
    const bool is_fgmres = solver.solver == OuterSolver::fgmres;
    if (is_fgmres && !coarsening.whole_grid)
      text += ", restart " + std::to_string(solver.restart);
    text += std::string(is_fgmres ? ", basis" : ", vectors") + " in " +
        (solver.has_single_basis() ? "single" : "double") + " precision";
    if (solver.full_multigrid)
      text += ", from full multigrid with " + std::to_string(solver.full_multigrid_cycles) +
          (solver.full_multigrid_cycles == 1 ? " cycle" : " cycles") + " per level";
    if (coarsening.whole_grid)
      return text + "; the whole grid in place of a cycle";
    text += "; " +
        (coarsening.vertices ? "cycle of two levels" : to_word(multigrid.cycle) + "-cycle") +
        " in " + to_word(multigrid.precision) + " precision, ";
    const std::string n = std::to_string(multigrid.degree);
    switch (multigrid.smoother)
    {
      case Smoother::chebyshev:
        return text + "chebyshev smoother of the " + to_word(multigrid.chebyshev_kind) +
            " kind, degree " + n;
      case Smoother::patch:
        return text + to_word(multigrid.schwarz_kind) + " patch smoother, " +
            plural(multigrid.degree, "sweep");
      case Smoother::jacobi:
        return text + "jacobi smoother, " + plural(multigrid.degree, "sweep");
    }
    return text;
  }

  /// "elements and vertices, smoothed by cells and lines in x: coefficients of neighbours differ by up to 1e+03"
  std::string coarsening_text(const CoarseningChoice &choice, int dim)
  {
    std::string text = choice.vertices
        ? "elements and vertices, " + std::string(choice.algebraic ? "algebraic" : "black-box") +
            " multigrid, smoothed by cells"
        : "elements on coarser cells";
    if (choice.whole_grid)
      text = "fast diagonalisation in double precision";
    std::string directions;
    for (int d = 0; d < dim; ++d)
      if (choice.lines[static_cast<std::size_t>(d)])
        directions += (directions.empty() ? "" : ", ") + std::string(1, "xyz"[d]);
    return text + (directions.empty() ? "" : " and lines in " + directions) + ": " + choice.reason;
  }

  std::string device_text(const DeviceProperties &device)
  {
    return device.name + ", driver " + device.driver + ", CUDA " + device.runtime;
  }

  std::string memory_text(const RunRecord &record)
  {
    const MemoryBudget &budget = record.budget;
    std::string text = format_bytes(budget.needed) + " needed";
    text += budget.ranks > 1 ? " by the " + std::to_string(budget.ranks) + " ranks of a node" : "";
    return text + ", " +
        (std::isfinite(budget.available) ? format_bytes(budget.available) : "unknown") +
        (record.memory_place == MemoryPlace::device ? " free on the device" : " available");
  }

  std::string memory_table(const MemoryPlan &plan)
  {
    TextTable table("             ", 2);
    table.add_row({"vectors on rank 0", "precision", "count", "size"});
    for (const MemoryItem &item : plan.items)
      table.add_row(
          {item.name, item.precision, format_count(item.count), format_bytes(item.bytes)});
    return table.text();
  }

  std::string changed_parameters(const Parameters &parameters)
  {
    const Parameters defaults;
    std::string text;
    for (const ParameterEntry &entry : parameter_table())
      if (const std::string value = entry.write(parameters); value != entry.write(defaults))
        text += line("", entry.name() + " = " + value);
    return text;
  }

  std::string all_parameters(const Parameters &parameters)
  {
    std::string text;
    for (const ParameterEntry &entry : parameter_table())
      text += line("", entry.name() + " = " + entry.write(parameters));
    return text;
  }

  std::string digits(double value)
  {
    std::ostringstream text;
    text << std::scientific << std::setprecision(6) << value;
    return text.str();
  }

  std::string errors_text(const RunRecord &record)
  {
    std::string text = "L2 " + format_residual(*record.l2_error);
    if (record.h1_error)
      text += ", gradient " + format_residual(*record.h1_error);
    return text;
  }
} // namespace

namespace
{
  /// "-div(K grad u) + c u = f, K = k(x), c = 2 on ...", and what K is in the cells.
  std::string equation_text(const RunRecord &record)
  {
    const Problem &problem = record.parameters.problem;
    const bool has_reaction = !problem.reaction.empty();
    std::string text = "-div(K grad u)" + std::string(has_reaction ? " + c u" : "") +
        " = f, K = " + cut(find_parameter("problem.coefficient")->write(record.parameters)) +
        (has_reaction ? ", c = " + cut(problem.reaction) : "") + ", on " +
        (record.mesh ? record.mesh->source : box_text(problem));
    text = line("problem", text);
    if (problem.is_graded())
      text += line("", sizes_text(problem));
    if (record.coefficient_range && !problem.cell_coefficient[0].empty())
      text += line("",
          "K from " + format_number(record.coefficient_range->front()) + " to " +
              format_number(record.coefficient_range->back()) +
              (problem.coefficient_in_cell == InCell::mean ? " (means of cells)" : ""));
    return text;
  }
} // namespace

std::string cells_text(const std::array<std::int64_t, 3> &cells, int dim)
{
  std::string text;
  for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d)
    text += (d > 0 ? " x " : "") + std::to_string(cells[d]);
  return text;
}

namespace
{
  /// "6 blocks of 8 x 8 x 8"
  std::string blocks_text(const MeshRecord &mesh, int dim)
  {
    const std::int64_t n = mesh.per_direction;
    return plural(mesh.blocks, "block") + " of " + cells_text({n, n, n}, dim);
  }
} // namespace

std::string mesh_text(const RunRecord &record, bool has_solution)
{
  if (!record.mesh)
    return "";
  const MeshRecord &mesh = *record.mesh;
  const int dim = record.parameters.problem.dim;
  const std::array<std::string, 3> coordinates{
      format_number(mesh.worst[0]), format_number(mesh.worst[1]), format_number(mesh.worst[2])};
  std::string text = "\n" +
      line("mesh",
          "volume " + format_number(mesh.volume) + ", geometry of degree " +
              std::to_string(mesh.mapping_degree) +
              "; det J within a cell by 1 : " + format_number(1. / mesh.least_quality) +
              " at most (at " + join({coordinates.begin(), coordinates.begin() + dim}, " ") +
              "), " + format_number(1. / mesh.mean_quality) + " in the mean; kappa up to " +
              format_number(mesh.largest_kappa));
  const MeshShape &shape = mesh.shape;
  text += line("",
      "angles " + format_number(shape.smallest_angle) + " to " +
          format_number(shape.largest_angle) + " degrees (in the mean " +
          format_number(shape.mean_smallest_angle) + " to " +
          format_number(shape.mean_largest_angle) + "), aspect ratio up to " +
          format_number(shape.aspect_ratio) + " (in the mean " +
          format_number(shape.mean_aspect_ratio) + ')');
  TextTable boundaries("             ", 2), materials("             ", 1);
  boundaries.add_row({"boundary", "condition", "area", has_solution ? "flux K du/dn" : ""});
  for (const auto &boundary : mesh.boundaries)
    boundaries.add_row({boundary.name, boundary.condition, format_number(boundary.area),
        has_solution ? digits(boundary.flux) : ""});
  text += boundaries.text();
  if (has_solution && !record.is_singular && !mesh.is_balanced())
    text += line("",
        "these fluxes do not balance: with " + digits(mesh.right_hand_side) +
            " of the right-hand side" +
            (mesh.reaction == 0. ? "" : " and " + digits(-mesh.reaction) + " of the reaction") +
            " they leave " + digits(mesh.defect) + ", by which they may be wrong" +
            (record.report.converged() ? "; a smaller solver.tolerance may help, unless K jumps by "
                                         "many orders of magnitude"
                                       : ""));
  if (mesh.materials.size() < 2)
    return text;
  materials.add_row({"material", "volume", has_solution ? "integral of u" : ""});
  for (const auto &material : mesh.materials)
    materials.add_row({material.name, format_number(material.volume),
        has_solution ? digits(material.integral) : ""});
  return text + materials.text();
}

std::string version_text()
{
  const std::string cuda = *cuda_compiler != '\0' ? std::string(", ") + cuda_compiler : ", no CUDA";
  return std::string("tensormg ") + version + " (" + git_hash + ")\nbuilt by " + compiler + ", " +
      build_type + " (" + compile_flags + ")" + cuda + '\n';
}

std::string header_text(const RunRecord &record, bool verbose)
{
  const Parameters &parameters = record.parameters;
  const Problem &problem = parameters.problem;
  std::int64_t distributed = 0;
  for (const LevelRecord &level : record.levels)
    distributed += level.distributed ? 1 : 0;
  const std::int64_t n_levels = std::ssize(record.levels);

  std::string text =
      std::string("tensormg ") + version + " (" + git_hash + ", " + compiler + ")\n\n";
  text += equation_text(record);
  if (!record.mesh || parameters.mesh.type == MeshType::mapped)
    text += line("", boundary_text(problem));
  else
    text += line("", write_conditions(parameters.mesh.conditions));
  if (record.is_singular)
    text += line("", "no side is dirichlet: the solution with mean zero is computed");
  text += line("grid",
      (record.mesh ? blocks_text(*record.mesh, problem.dim)
                   : cells_text(record.cells, problem.dim)) +
          " cells of degree " + std::to_string(problem.degree) + ", " + plural(record.dofs, "DoF") +
          ", " + plural(n_levels, "level") +
          (record.ranks > 1 ? " (" + std::to_string(distributed) + " distributed, " +
                      std::to_string(n_levels - distributed) + " on every rank)"
                            : ""));
  text += line("method", method_text(record.solver, record.coarsening));
  if (!record.coarsening.reason.empty())
    text += line("", coarsening_text(record.coarsening, problem.dim));
  text += line("backend",
      record.backend + " (" +
          (record.device ? device_text(*record.device) : record.instruction_set) + "), " +
          plural(record.ranks, "rank") + ", " + plural(record.threads, "thread") + " each");
  if (verbose)
    text += line("partition",
        cells_text({record.ranks_per_direction[0], record.ranks_per_direction[1],
                       record.ranks_per_direction[2]},
            problem.dim) +
            " ranks on " + record.host_cpu);
  text += line("memory", memory_text(record));
  text += memory_table(record.memory);
  const std::string source = parameters.source.empty() ? "defaults" : parameters.source;
  if (verbose)
    text += line("parameters", source) + all_parameters(parameters);
  else
  {
    const std::string changed = changed_parameters(parameters);
    text += line("parameters",
        source + (changed.empty() ? ", no changes" : "; what differs from the defaults:"));
    text += changed;
  }
  return text;
}

std::string iteration_text(int iteration, double residual, double previous)
{
  const auto pad = [](const std::string &text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + text;
  };
  if (iteration == 0)
    return "\n  iteration  relative residual  reduction\n" + pad("0", 11) +
        pad(format_residual(residual), 19) + '\n';
  return pad(std::to_string(iteration), 11) + pad(format_residual(residual), 19) +
      pad(previous > 0. ? format_number(residual / previous) : "", 11) + '\n';
}

namespace
{
  std::string scale_text(const RunRecord &record)
  {
    if (!record.scale_bytes_per_second)
      return "";
    return "  scale (a = q b): " + format_number(1e-12 * *record.scale_bytes_per_second) +
        " TB/s, measured after this solve\n";
  }

  std::string kernels_text(const RunRecord &record)
  {
    if (record.kernels.empty())
      return "";
    TextTable table("  ", 2);
    table.add_row({"level", "operation", "calls", "launches", "time", "each", "ps per DoF",
        "percent", "bytes", "% of scale"});
    double all = 0.;
    for (const ProfileEntry &entry : record.kernels)
      all += entry.seconds;
    for (const ProfileEntry &entry : record.kernels)
    {
      const bool is_outer = entry.section == outside;
      const double each = entry.seconds / entry.calls;
      const auto dofs = static_cast<double>(
          is_outer ? record.dofs : record.levels[static_cast<std::size_t>(entry.section)].dofs);
      const std::optional<double> share = record.share_of_scale(entry);
      table.add_row({is_outer ? "outer" : std::to_string(entry.section), entry.operation,
          std::to_string(entry.calls), std::to_string(entry.launches),
          format_seconds(entry.seconds), format_seconds(each), format_number(1e12 * each / dofs),
          format_number(100. * entry.seconds / all),
          entry.bytes > 0. ? format_bytes(entry.bytes) : "-",
          share ? format_number(100. * *share) : "-"});
    }
    return '\n' + table.text() + scale_text(record);
  }
} // namespace

std::string setup_text(const RunRecord &record)
{
  if (!record.parameters.output.level_times || record.setup_parts.empty())
    return "";
  TextTable table;
  table.add_row({"setup", "count", "time", "percent"});
  for (const setup_times::Part &part : record.setup_parts)
    table.add_row({part.name, part.count > 0 ? std::to_string(part.count) : "",
        format_seconds(part.seconds), format_number(100. * part.seconds / record.setup_seconds)});
  return '\n' + table.text();
}

std::string levels_text(const RunRecord &record)
{
  double in_cycles = 0.;
  for (const LevelRecord &level : record.levels)
    in_cycles += level.times.total();
  if (in_cycles == 0.)
    return "";
  const double total = std::max(record.report.seconds, in_cycles);
  const auto percent = [&](double seconds) { return format_number(100. * seconds / total); };
  TextTable table;
  table.add_row({"level", "cells", "DoFs", "distributed", "visits", "smoothing", "transfer",
      "coarse", "percent"});
  for (std::size_t l = record.levels.size(); l-- > 0;)
  {
    const LevelRecord &level = record.levels[l];
    const LevelTimes &times = level.times;
    table.add_row({std::to_string(l),
        record.mesh ? format_count(level.cells[0] * level.cells[1] * level.cells[2])
                    : cells_text(level.cells, record.parameters.problem.dim),
        format_count(level.dofs), level.distributed ? "yes" : "no", std::to_string(times.visits),
        l > 0 ? format_seconds(times.smoothing) : "-", l > 0 ? format_seconds(times.transfer) : "-",
        times.coarse > 0. ? format_seconds(times.coarse) : "-", percent(times.total())});
  }
  table.add_row(
      {"outer", to_word(record.solver.solver), "", "", "", "", "", "", percent(total - in_cycles)});
  return '\n' + table.text() + kernels_text(record);
}

namespace
{
  /// " after 7 iterations"
  std::string ending_text(const RunRecord &record)
  {
    const SolveReport &report = record.report;
    const SolverOptions &solver = record.solver;
    const bool is_start = report.converged() && report.iterations == 0 && record.rhs_norm > 0. &&
        solver.solver != OuterSolver::direct;
    if (!is_start)
      return " after " + plural(report.iterations, "iteration");
    return (solver.full_multigrid ? " by the full-multigrid start, 0 iterations of "
                                  : " with the initial guess, 0 iterations of ") +
        to_word(solver.solver);
  }
} // namespace

std::string doubt_text(const RunRecord &record)
{
  constexpr double much = 0.1;
  if (!record.report.converged() || !record.numbers || !record.algebraic_l2_error ||
      !(*record.algebraic_l2_error > much * record.numbers->l2_norm))
    return {};
  return "the residual is below solver.tolerance, but the error that it leaves, about " +
      format_residual(*record.algebraic_l2_error) + " in L2, is large beside the solution, " +
      format_residual(record.numbers->l2_norm) +
      ": a smaller solver.tolerance, or coefficients and cells that vary less";
}

std::string summary_text(const RunRecord &record, bool verbose)
{
  const SolveReport &report = record.report;
  std::string text = "\n";
  std::string result = std::string(to_string(report.reason)) + ending_text(record);
  if (report.iterations > 0)
    result += ", mean reduction " + format_number(report.mean_reduction()) + " per iteration";
  text += line("result", result);
  if (!report.detail.empty())
    text += line("", report.detail);
  text += line("residual",
      format_residual(report.true_relative_residual) +
          " (evaluated in double precision; tolerance " + format_number(record.tolerance) + ")");
  if (record.l2_error)
    text += line("error", errors_text(record));
  if (record.algebraic_l2_error)
    text += line(record.l2_error ? "" : "accuracy",
        "more iterations would change the solution by about " +
            format_residual(*record.algebraic_l2_error) + " in L2" +
            (record.l2_error ? "" : "; the error of the discretisation is not known"));
  text += line("time",
      (record.device ? "device start " + format_seconds(record.device_start_seconds) + ", "
                     : std::string()) +
          "setup " + format_seconds(record.setup_seconds) + ", right-hand side " +
          format_seconds(record.rhs_seconds) + ", solve " + format_seconds(report.seconds));
  std::string speed = format_number(1e-6 * record.dofs_per_second()) + " MDoF/s";
  if (report.iterations > 0)
    speed += ", " + format_number(record.ns_per_dof_and_iteration()) + " ns per DoF and iteration";
  text += line("speed", speed);
  if (verbose && record.lambda_max)
    text += line("lambda_max", format_number(*record.lambda_max) + " assumed by the smoother");
  if (verbose)
    text += line("peak memory", format_bytes(record.peak_memory_bytes) + " in all processes");
  return text;
}

std::string probes_text(const RunRecord &record)
{
  if (record.probes.empty())
    return "";
  const auto dim = static_cast<std::size_t>(record.parameters.problem.dim);
  const std::string name = record.parameters.output.field_name;
  TextTable table;
  std::vector<std::string> head;
  for (std::size_t d = 0; d < dim; ++d)
    head.emplace_back(1, "xyz"[d]);
  head.push_back(FieldName{name, record.parameters.output.field_unit}.text());
  for (std::size_t d = 0; d < dim; ++d)
    head.push_back(std::string("d/d") + "xyz"[d]);
  table.add_row(head);
  for (const PointValue &probe : record.probes)
  {
    std::vector<std::string> row;
    for (std::size_t d = 0; d < dim; ++d)
      row.push_back(to_text(probe.point[d]));
    row.push_back(digits(probe.value));
    for (std::size_t d = 0; d < dim; ++d)
      row.push_back(digits(probe.gradient[d]));
    table.add_row(row);
  }
  return '\n' + table.text() + '\n';
}

std::string probe_lines_text(const RunRecord &record)
{
  std::string text;
  for (std::size_t l = 0; l < record.probe_lines.size(); ++l)
    if (const std::int64_t outside = count_outside(record.probe_lines[l]); outside > 0)
      text += line("line " + std::to_string(l + 1),
          std::to_string(outside) + " of its " + plural(record.probe_lines[l].size(), "point") +
              (outside == 1 ? " lies" : " lie") + " outside of the mesh: nan in the file");
  return text;
}

std::string files_text(const RunRecord &record)
{
  return record.files.empty() ? "" : line("files", join(record.files, ", "));
}

std::string result_line(const RunRecord &record)
{
  const SolveReport &report = record.report;
  std::string text = std::string(to_string(report.reason)) + ": " +
      plural(report.iterations, "iteration") + ", residual " +
      format_residual(report.true_relative_residual) + ", " + plural(record.dofs, "DoF") +
      ", solve " + format_seconds(report.seconds);
  if (record.l2_error)
    text += ", error " + errors_text(record);
  return text + '\n';
}
} // namespace tensormg
