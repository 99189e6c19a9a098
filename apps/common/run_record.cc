#include "apps/common/run_record.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <limits>
#include <ostream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "apps/common/json_text.h"
#include "apps/common/program.h"
#include "apps/parameters/text.h"
#include "apps/parameters/words.h"
#include "kernels/basis/make_cell_basis.h"
#include "kernels/laplace/laplace.h"
#include "operators/multigrid/coarsening_choice.h"
#include "version.h"

namespace tensormg
{
namespace
{
  using Json = nlohmann::ordered_json;

  std::string utc_now()
  {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text.data();
  }

  /// The value of the first line "key : value" of a file in /proc; empty if there is none.
  std::string proc_value(const std::string &file, const std::string &key)
  {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);)
    {
      const std::size_t colon = line.find(':');
      if (colon != std::string::npos && trim(line.substr(0, colon)) == key)
        return trim(line.substr(colon + 1));
    }
    return "";
  }

  Json optional(const std::optional<double> &value) { return value ? Json(*value) : Json(nullptr); }

  /// The first `dim` entries.
  template <typename Number>
  Json directions(const std::array<Number, 3> &values, int dim)
  {
    return std::vector<Number>(values.begin(), values.begin() + dim);
  }

  Json memory_json(const RunRecord &record)
  {
    Json vectors = Json::array();
    for (const MemoryItem &item : record.memory.items)
      vectors.push_back({{"name", item.name}, {"precision", item.precision}, {"count", item.count},
          {"bytes", item.bytes}});
    return {{"place", record.memory_place == MemoryPlace::device ? "device" : "host"},
        {"bytes_rank_0", record.memory.bytes()}, {"bytes_node", record.budget.needed},
        {"bytes_available_node", record.budget.available}, {"ranks_on_node", record.budget.ranks},
        {"vectors", vectors}};
  }

  /// null for a solve in host memory
  Json device_json(const RunRecord &record)
  {
    if (!record.device)
      return nullptr;
    const DeviceProperties &device = *record.device;
    return {{"name", device.name},
        {"compute_capability", std::to_string(device.major) + "." + std::to_string(device.minor)},
        {"multiprocessors", device.multiprocessors}, {"memory_bytes", device.memory_bytes},
        {"driver", device.driver}, {"cuda_runtime", device.runtime},
        {"start_seconds", record.device_start_seconds}};
  }

  Json kernels_json(const RunRecord &record)
  {
    Json kernels = Json::array();
    for (const ProfileEntry &entry : record.kernels)
      kernels.push_back({{"level", entry.section == outside ? Json("outer") : Json(entry.section)},
          {"operation", entry.operation}, {"calls", entry.calls}, {"launches", entry.launches},
          {"seconds", entry.seconds},
          {"bytes", entry.bytes > 0. ? Json(entry.bytes) : Json(nullptr)},
          {"share_of_scale", optional(record.share_of_scale(entry))}});
    return kernels;
  }

  Json setup_json(const RunRecord &record)
  {
    Json parts = Json::array();
    for (const setup_times::Part &part : record.setup_parts)
      parts.push_back({{"part", part.name}, {"seconds", part.seconds}, {"count", part.count}});
    return parts;
  }

  /// int a du/dn by the names of the sides that are not periodic; null if unknown
  Json side_flux_json(const RunRecord &record)
  {
    if (!record.numbers || record.mesh) // mesh.boundaries has them
      return nullptr;
    Json fluxes = Json::object();
    for (std::size_t side = 0; side < side_names.size(); ++side)
      if (const std::optional<double> flux = record.numbers->side_flux[side])
        fluxes[side_names[side]] = *flux;
    return fluxes;
  }

  /// null if unknown
  Json probes_json(const RunRecord &record)
  {
    if (!record.numbers)
      return nullptr;
    const int dim = record.parameters.problem.dim;
    Json probes = Json::array();
    for (const PointValue &probe : record.probes)
      probes.push_back({{"point", directions(probe.point, dim)}, {"value", probe.value},
          {"gradient", directions(probe.gradient, dim)}});
    return probes;
  }

  /// null if unknown
  Json probe_lines_json(const RunRecord &record)
  {
    if (!record.numbers)
      return nullptr;
    Json lines = Json::array();
    for (const std::vector<PointValue> &values : record.probe_lines)
      lines.push_back({{"points", values.size()}, {"outside", count_outside(values)}});
    return lines;
  }

  /// null for a box
  Json mesh_json(const RunRecord &record)
  {
    if (!record.mesh)
      return nullptr;
    const MeshRecord &mesh = *record.mesh;
    Json boundaries = Json::array(), materials = Json::array();
    for (const auto &boundary : mesh.boundaries)
      boundaries.push_back({{"number", boundary.number}, {"name", boundary.name},
          {"condition", boundary.condition}, {"area", boundary.area}, {"flux", boundary.flux}});
    for (const auto &material : mesh.materials)
      materials.push_back({{"number", material.number}, {"name", material.name},
          {"volume", material.volume}, {"integral", material.integral}});
    return {{"source", mesh.source}, {"blocks", mesh.blocks},
        {"cells_per_direction", mesh.per_direction}, {"mapping_degree", mesh.mapping_degree},
        {"relaxation", mesh.relaxation}, {"operator", mesh.cycle_operator},
        {"linear_levels", mesh.linear_levels}, {"coarsening", mesh.coarsening},
        {"coarse_solver", mesh.coarse_solver}, {"volume", mesh.volume},
        {"least_quality", mesh.least_quality}, {"mean_quality", mesh.mean_quality},
        {"largest_kappa", mesh.largest_kappa}, {"smallest_angle", mesh.shape.smallest_angle},
        {"largest_angle", mesh.shape.largest_angle},
        {"largest_aspect_ratio", mesh.shape.aspect_ratio},
        {"mean_smallest_angle", mesh.shape.mean_smallest_angle},
        {"mean_largest_angle", mesh.shape.mean_largest_angle},
        {"mean_aspect_ratio", mesh.shape.mean_aspect_ratio}, {"boundaries", boundaries},
        {"materials", materials},
        {"balance",
            mesh.volume > 0.
                ? Json{{"right_hand_side", mesh.right_hand_side}, {"reaction", mesh.reaction},
                      {"defect", mesh.defect}, {"is_balanced", mesh.is_balanced()}}
                : Json()}};
  }

  Json levels_json(const RunRecord &record)
  {
    Json levels = Json::array();
    for (std::size_t l = 0; l < record.levels.size(); ++l)
    {
      const LevelRecord &level = record.levels[l];
      levels.push_back(
          {{"level", l}, {"cells", directions(level.cells, record.parameters.problem.dim)},
              {"dofs", level.dofs}, {"distributed", level.distributed},
              {"visits", level.times.visits}, {"smoothing_seconds", level.times.smoothing},
              {"transfer_seconds", level.times.transfer}, {"coarse_seconds", level.times.coarse}});
    }
    return levels;
  }
} // namespace

bool MeshRecord::is_balanced() const
{
  constexpr double three_digits = 1e-3, cancelled = 1e-6;
  double largest = std::max(std::abs(right_hand_side), std::abs(reaction));
  for (const Boundary &boundary : boundaries)
    largest = std::max(largest, std::abs(boundary.flux));
  return std::abs(defect) <=
      std::max({three_digits * largest, cancelled * magnitude, cancelled * flux_scale});
}

double RunRecord::dofs_per_second() const
{
  return report.seconds > 0. ? static_cast<double>(dofs) / report.seconds : 0.;
}

double RunRecord::ns_per_dof_and_iteration() const
{
  return report.iterations > 0
      ? 1e9 * report.seconds / static_cast<double>(dofs) / report.iterations
      : 0.;
}

std::optional<double> RunRecord::share_of_scale(const ProfileEntry &entry) const
{
  if (!scale_bytes_per_second || entry.bytes == 0. || entry.seconds == 0.)
    return std::nullopt;
  return entry.bytes / entry.seconds / *scale_bytes_per_second;
}

RunRecord begin_record(const Parameters &parameters, const Grid &grid, const std::string &backend)
{
  RunRecord record;
  record.parameters = parameters;
  record.date = utc_now();
  record.host_cpu = proc_value("/proc/cpuinfo", "model name");
  record.backend = backend;
  record.instruction_set =
      backend == "cpu" ? laplace::cpu_instruction_set() : "as the compiler chose";
  record.ranks = grid.n_ranks;
  record.ranks_per_direction = grid.ranks_per_direction;
  record.is_singular = parameters.problem.is_singular();
  record.cells = grid.finest().global_cells;
  record.dofs = grid.finest().global_dofs();
  if (const CellData *data = grid.finest().cells.get())
    record.coefficient_range = {data->smallest_k, data->largest_k};
  SolverOptions &solver = record.solver;
  solver = parameters.solver;
  solver.multigrid =
      with_chosen_precision(solver.multigrid, grid, make_cell_basis(parameters.problem.degree));
  record.coarsening = choose_coarsening(grid, solver.multigrid);
  record.tolerance = solver.tolerance;
  record.precision = solver.multigrid.precision;
  record.single_levels = solver.multigrid.single_levels;
  for (const LevelGrid &level : grid.levels)
    record.levels.push_back({level.global_cells, level.global_dofs(),
        level.communicator != MPI_COMM_SELF, LevelTimes()});
  return record;
}

int exit_code(const RunRecord &record)
{
  return record.files_trouble.empty() ? exit_code(record.report.reason) : int(exit_unexpected);
}

std::string precision_word(const RunRecord &record)
{
  const SolverOptions &options = record.solver;
  return to_word(
      options.solver == OuterSolver::direct ? Precision::double_precision : record.precision);
}

std::string json_text(const Parameters &parameters)
{
  std::ostringstream text;
  print_parameters(parameters, text, ParameterFormat::json);
  const std::string quoted = Json(text.str()).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(quoted).get<std::string>();
}

void write_run_json(const RunRecord &record, std::ostream &out)
{
  const Problem &problem = record.parameters.problem;
  const SolverOptions &solver = record.solver;
  const SolveReport &report = record.report;

  const auto number = [&](double SolutionNumbers::*member) {
    return record.numbers ? Json(*record.numbers.*member) : Json(nullptr);
  };
  const Json json{
      {"converged", report.converged()},
      {"reason", to_string(report.reason)},
      {"detail", report.detail},
      {"exit_code", exit_code(record)},
      {"dimension", problem.dim},
      {"degree", problem.degree},
      {"cells", directions(record.cells, problem.dim)},
      {"dofs", record.dofs},
      {"mesh", mesh_json(record)},
      {"coefficient_range",
          record.coefficient_range ? Json(*record.coefficient_range) : Json(nullptr)},
      {"solver", to_word(solver.solver)},
      {"precision", precision_word(record)},
      {"basis_precision",
          solver.solver != OuterSolver::direct
              ? Json(solver.has_single_basis() ? "single" : "double")
              : Json(nullptr)},
      {"precision_fallback",
          record.report.precision_fallback.empty() ? Json(nullptr)
                                                   : Json(record.report.precision_fallback)},
      {"single_levels", record.single_levels},
      {"smoother",
          record.coarsening.whole_grid ? Json(nullptr) : Json(to_word(solver.multigrid.smoother))},
      {"coarsening",
          record.coarsening.reason.empty() ? Json(nullptr) : Json(record.coarsening.word())},
      {"cycle_change", report.cycle_change.empty() ? Json(nullptr) : Json(report.cycle_change)},
      {"cycle",
          record.coarsening.has_levels() ? Json(to_word(solver.multigrid.cycle)) : Json(nullptr)},
      {"backend", record.backend},
      {"instruction_set", record.instruction_set},
      {"device", device_json(record)},
      {"iterations", report.iterations},
      {"reduction", report.mean_reduction()},
      {"tolerance", record.tolerance},
      {"true_relative_residual", report.true_relative_residual},
      {"residuals", report.residuals},
      {"l2_error", optional(record.l2_error)},
      {"h1_error", optional(record.h1_error)},
      {"algebraic_l2_error", optional(record.algebraic_l2_error)},
      {"algebraic_h1_error", optional(record.algebraic_h1_error)},
      {"integral", number(&SolutionNumbers::integral)},
      {"mean", number(&SolutionNumbers::mean)},
      {"minimum", number(&SolutionNumbers::minimum)},
      {"maximum", number(&SolutionNumbers::maximum)},
      {"l2_norm", number(&SolutionNumbers::l2_norm)},
      {"side_flux", side_flux_json(record)},
      {"probes", probes_json(record)},
      {"probe_lines", probe_lines_json(record)},
      {"lambda_max", optional(record.lambda_max)},
      {"setup_seconds", record.setup_seconds},
      {"setup_parts", setup_json(record)},
      {"rhs_seconds", record.rhs_seconds},
      {"solve_seconds", report.seconds},
      {"exchange", record.exchange.empty() ? Json(nullptr) : Json(record.exchange)},
      {"energy_joules", optional(record.energy_joules)},
      {"total_seconds", record.total_seconds},
      {"dofs_per_second", record.dofs_per_second()},
      {"ranks", record.ranks},
      {"ranks_per_direction", directions(record.ranks_per_direction, problem.dim)},
      {"threads", record.threads},
      {"memory", memory_json(record)},
      {"peak_memory_bytes", record.peak_memory_bytes},
      {"levels", levels_json(record)},
      {"kernels", kernels_json(record)},
      {"scale_bytes_per_second", optional(record.scale_bytes_per_second)},
      {"version", version},
      {"git_hash", git_hash},
      {"compiler", compiler},
      {"build_type", build_type},
      {"compile_flags", compile_flags},
      {"host_cpu", record.host_cpu},
      {"date", record.date},
      {"files", record.files},
      {"files_trouble", record.files_trouble.empty() ? Json(nullptr) : Json(record.files_trouble)},
      {"parameter_file", record.parameters.source},
      {"parameters", json_of_text(json_text(record.parameters))},
  };
  // NaN and infinity become null.
  out << text_of_json(json) << '\n';
}

void write_residuals_csv(const RunRecord &record, std::ostream &out)
{
  const std::vector<double> &residuals = record.report.residuals;
  out << "iteration,residual,relative_residual\n"
      << std::setprecision(std::numeric_limits<double>::max_digits10);
  for (std::size_t i = 0; i < residuals.size(); ++i)
    out << i << ',' << residuals[i] << ','
        << (record.rhs_norm > 0. ? residuals[i] / record.rhs_norm : 0.) << '\n';
}

double peak_memory()
{
  // "123456 kB"
  const std::string value = proc_value("/proc/self/status", "VmHWM");
  return 1024. * to_number(value.substr(0, value.find(' '))).value_or(0.);
}
} // namespace tensormg
