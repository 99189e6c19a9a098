#include "apps/benchmark/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "apps/benchmark/exchange.h"
#include "apps/common/console.h"
#include "kernels/basis/make_cell_basis.h"
#include "kernels/diagnostics/scale/scale.h"
#include "operators/constant/laplace_operator.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/vectors/vector_space.h"
#include "solvers/fgmres.h"
#include "solvers/mixed_operator.h"
#include "version.h"

namespace tensormg
{
namespace
{
  using nlohmann::json;

  double seconds_since(std::chrono::steady_clock::time_point start)
  {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  /// Time of f on the slowest rank, repeated after one warm-up.
  template <typename Function>
  Timing measure(MPI_Comm communicator, int repetitions, Function &&f)
  {
    std::vector<double> times;
    for (int r = 0; r <= repetitions; ++r)
    {
      MPI_Barrier(communicator);
      const auto start = std::chrono::steady_clock::now();
      f();
      double time = seconds_since(start);
      MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, communicator);
      if (r > 0)
        times.push_back(time);
    }
    std::sort(times.begin(), times.end());
    return {times[times.size() / 2], times.front(), times.back()};
  }

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

  template <typename Number>
  void fill(Vector<Number> &v, unsigned seed)
  {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> uniform(-1.F, 1.F);
    const Block &block = v.block();
    for (std::int64_t line = 0; line < block.size() / block.pitch; ++line)
      for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
        v[line * block.pitch + cx] = Number(uniform(generator));
  }

  template <typename Number>
  constexpr const char *precision_name = sizeof(Number) == 8 ? "double"
      : sizeof(Number) == 4                                  ? "single"
                                                             : "half";

  /// One fused step and the plain operator against the reference backend on an odd mesh.
  template <typename Number>
  double verify(int dim, int degree, const CellBasis &basis)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = degree;
    problem.coarse_cells = {9, 3, dim == 3 ? 2 : 1};
    problem.refinements = 0;
    const Grid grid = make_grid(problem, MPI_COMM_SELF);
    LaplaceOperator<Number> tested(grid.finest(), basis, laplace::Backend::cpu);
    LaplaceOperator<Number> oracle(grid.finest(), basis, laplace::Backend::reference);
    auto src = tested.make_vector(), b = tested.make_vector(), old = tested.make_vector();
    fill(src, 1);
    fill(b, 2);
    fill(old, 3);
    auto found = tested.make_vector(), expected = tested.make_vector();
    double difference = 0., largest = 0.;
    const auto compare = [&] {
      for (std::int64_t at = 0; at < found.size(); ++at)
      {
        const double e = static_cast<Compute<Number>>(expected[at]);
        const double error =
            std::abs(static_cast<double>(static_cast<Compute<Number>>(found[at])) - e);
        difference = std::isfinite(error) ? std::max(difference, error) : INFINITY;
        largest = std::max(largest, std::abs(e));
      }
    };
    tested.vmult(found, src);
    oracle.vmult(expected, src);
    compare();
    tested.chebyshev_step(found, src, &old, b, 0.4, 0.9);
    oracle.chebyshev_step(expected, src, &old, b, 0.4, 0.9);
    compare();
    return difference / largest;
  }

  template <typename Number>
  json measure_operator(const Grid &grid, const CellBasis &basis, double bandwidth, int repetitions)
  {
    const int dim = grid.problem.dim, degree = grid.problem.degree;
    const double error = verify<Number>(dim, degree, basis);
    const double allowed = sizeof(Number) == 8 ? 1e-13 : sizeof(Number) == 4 ? 1e-5 : 4e-3;
    if (!(error < allowed))
      throw std::runtime_error("the cpu operator differs from the reference by " +
          std::to_string(error) + " at degree " + std::to_string(degree) + ", " +
          precision_name<Number>);
    LaplaceOperator<Number> op(grid.finest(), basis, laplace::Backend::cpu);
    auto src = op.make_vector(), b = op.make_vector(), old = op.make_vector();
    fill(src, 1 + grid.rank);
    fill(b, 2 + grid.rank);
    const double dofs = static_cast<double>(grid.finest().global_dofs());
    json result = {{"precision", precision_name<Number>}, {"error_against_reference", error}};
    const auto entry = [&](const char *name, laplace::Form form, auto &&f) {
      const Timing t = measure(grid.communicator, repetitions, f);
      const laplace::Work work = laplace::work_per_dof(form, dim, sizeof(Number));
      result[name] = {{"seconds", t.median}, {"seconds_fastest", t.fastest},
          {"seconds_slowest", t.slowest}, {"dofs_per_second", dofs / t.median},
          {"bytes_per_dof", work.bytes},
          {"percent_of_scale", 100. * work.bytes * dofs / t.median / bandwidth}};
    };
    entry("apply", laplace::Form::apply, [&] { op.vmult(old, src); });
    entry("chebyshev", laplace::Form::chebyshev,
        [&] { op.chebyshev_step(old, src, &old, b, 0.4, 0.9); });
    result["exchange"] = measure_exchange<Number>(grid, basis, repetitions);
    return result;
  }

  json measure_solve(const Grid &grid, const CellBasis &basis, Precision precision,
      const char *name, double bandwidth)
  {
    SolverOptions options;
    options.multigrid.precision = precision;
    const double dofs = static_cast<double>(grid.finest().global_dofs());
    const auto start = std::chrono::steady_clock::now();
    const VectorSpace space(grid.finest().block, grid.finest().communicator);
    LaplaceOperator<double> op(grid.finest(), basis, laplace::Backend::cpu);
    const auto multigrid = make_multigrid(grid, basis, laplace::Backend::cpu, options.multigrid);
    LaplaceOperator<WideFloat> products(grid.finest(), basis, laplace::Backend::cpu);
    MixedOperator both(op, products);
    std::optional<Fgmres<VectorSpace>> solver;
    std::optional<Fgmres<VectorSpace, Vector<WideFloat>>> single_solver;
    if (options.has_single_basis())
      single_solver.emplace(space, options.tolerance, options.max_iterations, options.restart);
    else
      solver.emplace(space, options.tolerance, options.max_iterations, options.restart);
    auto b = space.make_vector(), x = space.make_vector();
    const double setup = seconds_since(start);
    fill(b, 7 + grid.rank);
    SolveReport report;
    const Timing t = measure(grid.communicator, 3, [&] {
      space.axpby(0., x, 0., x);
      report = single_solver ? single_solver->solve(both, *multigrid, x, b)
                             : solver->solve(op, *multigrid, x, b);
    });
    if (!report.converged())
      throw std::runtime_error(std::string("the solve ended with ") + to_string(report.reason));
    const double bytes =
        model_solve_bytes(grid.problem.dim, report.iterations, options.multigrid.degree, precision);
    return {{"precision", name}, {"seconds", t.median}, {"seconds_fastest", t.fastest},
        {"seconds_slowest", t.slowest}, {"setup_seconds", setup},
        {"dofs_per_second", dofs / t.median}, {"iterations", report.iterations},
        {"reduction", report.mean_reduction()},
        {"true_relative_residual", report.true_relative_residual}, {"bytes_per_dof", bytes},
        {"percent_of_scale", 100. * bytes * dofs / t.median / bandwidth}};
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

double measure_scale_bandwidth(MPI_Comm communicator, int repetitions)
{
  const Block block(3, 3, {64, 64, 64});
  Vector<double> a(block), b(block);
  fill(b, 1);
  int n_ranks = 1;
  MPI_Comm_size(communicator, &n_ranks);
  const Timing t = measure(
      communicator, repetitions, [&] { scale::cpu(block.size(), 1.5, b.data(), a.data()); });
  return 16. * static_cast<double>(block.size()) * n_ranks / t.fastest;
}

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
  /// Measures a part, and says "  degree 3, 64^3 cells, operator, single: 1408 MDoF/s" by what `key` of the result has.
  template <typename Measure>
  json announced(
      const std::string &what, BenchmarkVoice &voice, const std::string &key, Measure &&measure)
  {
    voice.progress.begin(what);
    json result = measure();
    const json &timed = key.empty() ? result : result[key];
    voice.say("  " + what + ": " + format_number(1e-6 * timed["dofs_per_second"].get<double>()) +
        " MDoF/s\n");
    voice.progress.rest();
    return result;
  }

  template <typename Number>
  json announced_operator(const std::string &mesh, const Grid &grid, const CellBasis &basis,
      double bandwidth, int repetitions, BenchmarkVoice &voice)
  {
    return announced(mesh + "operator, " + precision_name<Number>, voice, "apply",
        [&] { return measure_operator<Number>(grid, basis, bandwidth, repetitions); });
  }

  json announced_solve(const std::string &mesh, const Grid &grid, const CellBasis &basis,
      Precision precision, const char *name, double bandwidth, BenchmarkVoice &voice)
  {
    return announced(mesh + "solve, " + name, voice, "",
        [&] { return measure_solve(grid, basis, precision, name, bandwidth); });
  }
} // namespace

nlohmann::json run_benchmark(
    const BenchmarkOptions &options, MPI_Comm communicator, BenchmarkVoice voice)
{
  int n_ranks = 1;
  MPI_Comm_size(communicator, &n_ranks);
  voice.progress.begin("scale bandwidth");
  const double bandwidth = measure_scale_bandwidth(communicator, options.repetitions);
  voice.say("  scale bandwidth: " + format_number(1e-9 * bandwidth) + " GB/s\n");
  json result = {{"benchmark", "cpu solver"}, {"version", tensormg::version},
      {"git_hash", tensormg::git_hash}, {"date", utc_now()}, {"cpu", cpu_model()},
      {"ranks", n_ranks}, {"instruction_set", laplace::cpu_instruction_set()},
      {"dimension", options.dim}, {"scale_bytes_per_second", bandwidth}};
  for (const int degree : options.degrees)
  {
    const Problem problem = nearest_problem(options.dim, degree, options.dofs);
    const Grid grid = make_grid(problem, communicator);
    const CellBasis basis = make_cell_basis(degree);
    json entry = {{"degree", degree}, {"cells", grid.finest().global_cells},
        {"dofs", grid.finest().global_dofs()}};
    const std::string mesh = "degree " + std::to_string(degree) + ", " +
        std::to_string(grid.finest().global_cells[0]) + '^' + std::to_string(options.dim) +
        " cells, ";
    const int n = options.repetitions;
    entry["operators"] = {announced_operator<double>(mesh, grid, basis, bandwidth, n, voice),
        announced_operator<float>(mesh, grid, basis, bandwidth, n, voice),
        announced_operator<Half>(mesh, grid, basis, bandwidth, n, voice)};
    const auto solve = [&](Precision precision, const char *name) {
      return announced_solve(mesh, grid, basis, precision, name, bandwidth, voice);
    };
    entry["solves"] = {solve(Precision::double_precision, "double"),
        solve(Precision::single_precision, "single"), solve(Precision::half_precision, "half")};
    result["degrees"].push_back(entry);
  }
  return result;
}

std::string benchmark_table(const nlohmann::json &result)
{
  std::ostringstream text;
  text
      << std::fixed << "Measured on " << result["cpu"].get<std::string>() << ", " << result["ranks"]
      << " ranks, " << result["instruction_set"].get<std::string>() << ", scale bandwidth "
      << std::setprecision(1) << result["scale_bytes_per_second"].get<double>() * 1e-9
      << " GB/s, commit " << result["git_hash"].get<std::string>() << ", "
      << result["date"].get<std::string>()
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
      text << "| " << entry["degree"] << " | " << entry["cells"][0] << "^" << result["dimension"]
           << " | " << entry["dofs"] << " | " << op["precision"].get<std::string>() << " | "
           << rate(op["apply"]) << " | " << percent(op["apply"]) << " | " << rate(op["chebyshev"])
           << " | " << percent(op["chebyshev"]) << " | " << std::setprecision(1) << rate(solve)
           << std::setprecision(0) << " | " << percent(solve) << " | " << solve["iterations"]
           << " |\n";
    }
  return text.str() + exchange_table(result);
}
} // namespace tensormg
