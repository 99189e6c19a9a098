#include "apps/benchmark/benchmark.h"

#include <cmath>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "apps/benchmark/exchange.h"
#include "apps/common/console.h"
#include "apps/common/host_cores.h"
#include "apps/common/memory_plan.h"
#include "apps/parameters/parameters.h"
#include "kernels/basis/make_cell_basis.h"
#include "operators/solver/available_memory.h"
#include "operators/solver/backend_choice.h"
#include "version.h"

namespace tensormg
{
namespace
{
  using nlohmann::json;

  /// The mesh with `dofs` unknowns as nearly as coarse_cells 1, 3, 5, 7 and at least two refinements allow.
  Problem nearest_problem(int dim, int degree, std::int64_t dofs)
  {
    Problem best;
    double best_distance = INFINITY;
    for (const std::int64_t coarse : {1, 3, 5, 7})
      for (int refinements = 2; refinements < 14; ++refinements)
      {
        const double cells = static_cast<double>(coarse << refinements);
        const double distance =
            std::abs(std::log(std::pow(cells * (degree + 1), dim) / static_cast<double>(dofs)));
        if (distance < best_distance)
        {
          best_distance = distance;
          best.coarse_cells = {coarse, coarse, dim == 3 ? coarse : 1};
          best.refinements = refinements;
        }
      }
    best.dim = dim;
    best.degree = degree;
    return best;
  }

  /// That of all ranks.
  Problem problem_of(const BenchmarkOptions &options, int degree, int n_ranks)
  {
    Problem problem = nearest_problem(options.dim, degree, options.dofs);
    const int last = options.dim - 1;
    if (options.dofs_per_rank)
    {
      problem.coarse_cells[last] *= n_ranks;
      problem.upper[last] *= n_ranks;
    }
    return problem;
  }

  std::string cpu_model()
  {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line))
      if (line.rfind("model name", 0) == 0)
        return line.substr(line.find(':') + 2);
    return "unknown";
  }

  std::string utc_now()
  {
    const std::time_t now = std::time(nullptr);
    std::ostringstream text;
    text << std::put_time(std::gmtime(&now), "%Y-%m-%dT%H:%M:%SZ");
    return text.str();
  }
} // namespace

double model_solve_bytes(int dim, int iterations, int k, Precision precision)
{
  const double s = bytes_per_number(precision);
  const double coarse = dim == 3 ? 1. / 8. : 1. / 4.;
  // Fused steps: the first before the correction is pointwise (2 vectors), the next starts from the
  // zero vector (3); the first after the correction has no momentum (3). Then residual (3),
  // restriction (1 and the coarse vector), prolongation with add (2 and the coarse vector).
  const double before = k == 1 ? 2. : 2. + 3. + 4. * (k - 2), after = 3. + 4. * (k - 1);
  const double level = s * (before + after + 3. + 1. + 2. + 2. * coarse);
  // Numbers of the basis; a cycle with one in single precision takes half of the steps and is begun anew.
  const bool single = precision != Precision::double_precision;
  const double v = single ? 4. : 8.;
  const int cycles = single ? 2 : 1;
  const double scaling = precision == Precision::half_precision ? v : 0.; // largest entry
  // Conversions, where the first smoothing step does not read b again.
  const double cycle = level / (1. - coarse) + v + (v + s) + scaling;
  double outer = 8.; // norm of b
  for (int c = 0; c < cycles; ++c)
  {
    const int steps = (iterations + c) / cycles;
    for (int j = 0; j < steps; ++j)
      outer += 2. * v + v * (j + 2) + v * (j + 3);
    outer += v * steps + 16. + 24.;     // solution, true residual
    outer += single ? 8. + v : 8. + 8.; // its norm, and the beginning of a basis
  }
  return iterations * cycle + outer;
}

namespace
{
  std::string cells_of(const json &cells, int dim)
  {
    std::string text = std::to_string(cells[0].get<std::int64_t>());
    if (cells[0] == cells[dim - 1])
      return text + '^' + std::to_string(dim);
    for (int d = 1; d < dim; ++d)
      text += 'x' + std::to_string(cells[d].get<std::int64_t>());
    return text;
  }
} // namespace

std::string mesh_text(const Grid &grid)
{
  return "degree " + std::to_string(grid.problem.degree) + ", " +
      cells_of(json(grid.finest().global_cells), grid.problem.dim) + " cells, ";
}

nlohmann::json announced(const std::string &what, BenchmarkVoice &voice, const std::string &key,
    const std::function<nlohmann::json()> &measure)
{
  voice.progress.begin(what);
  json result = measure();
  const json &timed = key.empty() ? result : result[key];
  voice.say("  " + what + ": " + format_number(1e-6 * timed["dofs_per_second"].get<double>()) +
      " MDoF/s\n");
  voice.progress.rest();
  return result;
}

namespace
{
  /// One degree, and what it is measured on.
  struct Part
  {
    Grid grid;
    BackendChoice choice;
  };

  /// All degrees on devices or all on the host. Throws ParameterError if the backend cannot be used.
  std::vector<Part> parts_of(
      const BenchmarkOptions &options, MPI_Comm communicator, BenchmarkVoice &voice)
  {
    int n_ranks = 1;
    MPI_Comm_size(communicator, &n_ranks);
    const SolverOptions solver;
    std::vector<Part> parts;
    std::string reason;
    bool on_devices = true;
    for (const int degree : options.degrees)
    {
      const Problem problem = problem_of(options, degree, n_ranks);
      Part &part = parts.emplace_back();
      part.grid = make_grid(problem, communicator, division_for_devices(solver));
      try
      {
        part.choice = choose_backend(problem, solver, options.backend, ranks_of(part.grid));
      }
      catch (const std::invalid_argument &error) // alike on all ranks
      {
        throw ParameterError(error.what());
      }
      on_devices = on_devices && laplace::is_device_backend(part.choice.backend);
      reason = reason.empty() ? part.choice.reason : reason;
    }
    if (on_devices)
      return parts;
    if (!reason.empty())
      voice.say("  no GPU is used: " + reason + '\n');
    for (Part &part : parts)
    {
      part.grid = make_grid(part.grid.problem, communicator);
      part.choice.backend = laplace::Backend::cpu;
    }
    return parts;
  }

  /// Before anything is taken: of a solve in double, the most that is measured.
  void check_memory_of(const Grid &grid, bool on_devices)
  {
    SolverOptions options;
    options.multigrid.precision = Precision::double_precision;
    check_memory(grid, options,
        on_devices ? static_cast<double>(free_device_bytes()) : available_memory(),
        on_devices ? MemoryPlace::device : MemoryPlace::host);
  }
} // namespace

nlohmann::json benchmark_head(const BenchmarkOptions &options, MPI_Comm communicator)
{
  int n_ranks = 1;
  MPI_Comm_size(communicator, &n_ranks);
  return {{"benchmark", "solver"}, {"version", tensormg::version}, {"git_hash", tensormg::git_hash},
      {"date", utc_now()}, {"cpu", cpu_model()}, {"ranks", n_ranks},
      {"instruction_set", laplace::cpu_instruction_set()}, {"dimension", options.dim},
      {"dofs_per_rank", options.dofs_per_rank}};
}

nlohmann::json run_benchmark(
    const BenchmarkOptions &options, MPI_Comm communicator, BenchmarkVoice voice)
{
  int n_ranks = 1;
  MPI_Comm_size(communicator, &n_ranks);
  const std::vector<Part> parts = parts_of(options, communicator, voice);
  const bool on_devices = laplace::is_device_backend(parts.front().choice.backend);
  json result = benchmark_head(options, communicator);
  if (on_devices)
  {
    if (n_ranks > 1)
      stay_near_device(device_properties().place_on_bus);
    result["device"] = device_properties().name;
  }
  for (const Part &part : parts)
    check_memory_of(part.grid, on_devices);
  voice.progress.begin("scale bandwidth");
  const double bandwidth = on_devices ? measure_device_bandwidth(communicator, options.repetitions)
                                      : measure_scale_bandwidth(communicator, options.repetitions);
  voice.say("  scale bandwidth: " + format_number(1e-9 * bandwidth) + " GB/s\n");
  result["scale_bytes_per_second"] = bandwidth;
  for (const Part &part : parts)
  {
    const CellBasis basis = make_cell_basis(part.grid.problem.degree);
    const BenchmarkPlace place{part.grid, basis, part.choice.backend, bandwidth};
    result["degrees"].push_back(on_devices ? measure_on_devices(place, options.repetitions, voice)
                                           : measure_on_host(place, options.repetitions, voice));
  }
  return result;
}

std::string benchmark_table(const nlohmann::json &result)
{
  std::ostringstream text;
  const bool on_devices = result.contains("device");
  text
      << std::fixed << "Measured on " << result[on_devices ? "device" : "cpu"].get<std::string>()
      << ", " << result["ranks"] << (result["ranks"] == 1 ? " rank, " : " ranks, ")
      << (on_devices ? "backend " + result["degrees"][0]["backend"].get<std::string>()
                     : result["instruction_set"].get<std::string>())
      << ", scale bandwidth " << std::setprecision(1)
      << result["scale_bytes_per_second"].get<double>() * 1e-9 << " GB/s, commit "
      << result["git_hash"].get<std::string>() << ", " << result["date"].get<std::string>()
      << ".\n\n| p | cells | DoFs | precision | operator MDoF/s | % of scale | fused step MDoF/s | % "
         "of scale | solve MDoF/s | % of scale | iterations |\n"
      << "|---|---|---|---|---|---|---|---|---|---|---|\n"
      << std::setprecision(0);
  for (const auto &entry : result["degrees"])
    for (std::size_t i = 0; i < entry["operators"].size(); ++i)
    {
      const auto &op = entry["operators"][i], &solve = entry["solves"][i];
      const auto rate = [](const nlohmann::json &e) {
        return e["dofs_per_second"].get<double>() * 1e-6;
      };
      const auto percent = [](const nlohmann::json &e) {
        return e["percent_of_scale"].get<double>();
      };
      text << "| " << entry["degree"] << " | " << cells_of(entry["cells"], result["dimension"])
           << " | " << entry["dofs"] << " | " << op["precision"].get<std::string>() << " | "
           << rate(op["apply"]) << " | " << percent(op["apply"]) << " | " << rate(op["chebyshev"])
           << " | " << percent(op["chebyshev"]) << " | " << std::setprecision(1) << rate(solve)
           << std::setprecision(0) << " | " << percent(solve) << " | " << solve["iterations"]
           << " |\n";
    }
  return text.str() + exchange_table(result);
}
} // namespace tensormg
