#include "apps/benchmark/curved.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iomanip>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/benchmark/curved_cube.h"
#include "apps/benchmark/dealii_laplace.h"
#include "apps/benchmark/measure.h"
#include "apps/common/console.h"
#include "apps/parameters/parameters.h"
#include "kernels/basis/make_cell_basis.h"
#include "operators/block_solver/block_memory.h"
#include "operators/block_solver/block_solver.h"
#include "operators/curved/pointwise_operator.h"
#include "operators/pointwise/block_levels.h"
#include "operators/solver/available_memory.h"
#include "operators/solver/box_system.h"
#include "operators/solver/memory_plan.h"

namespace tensormg
{
namespace
{
  using nlohmann::json;
  using Lines = DealiiLaplace::Lines;

  constexpr int refinements = 2;

  /// Continuous, zero on the boundary: what penalties multiply is zero.
  Lines hat(std::int64_t cells)
  {
    return [cells](int, std::int64_t cell) {
      const auto at = [cells](std::int64_t vertex) {
        return static_cast<double>(std::min(vertex, cells - vertex)) / static_cast<double>(cells);
      };
      return std::array<double, 2>{at(cell), at(cell + 1)};
    };
  }
  /// Jumps at every face.
  std::array<double, 2> jumping(int direction, std::int64_t cell)
  {
    const double step = std::sin(static_cast<double>(3 * cell + direction));
    return {1. + 0.5 * step, 1. - 0.25 * step};
  }

  /// The difference of (A u, v), u the hat and v what jumps, and of (A v, u), relative.
  double difference_from_dealii(
      const CurvedCube &cube, PointwiseOperator<double> &op, DealiiLaplace &dealii)
  {
    const VectorSpace space(cube.finest().grid.block, MPI_COMM_SELF);
    const Lines u = hat(cube.cells()), v = jumping;
    double difference = 0.;
    for (const auto &[from, with] : {std::pair(u, v), std::pair(v, u)})
    {
      Vector<double> result = op.make_vector();
      op.vmult(result, cube.modes_of(from));
      const double ours = cube.finest().scale * space.dot(result, cube.modes_of(with));
      dealii.set(from);
      dealii.apply();
      const double theirs = dealii.product_with(with);
      difference = std::max(difference, std::abs(ours / theirs - 1.));
    }
    return difference;
  }

  json entry_of(const Timing &t, double dofs)
  {
    json result = json_of(t);
    result["dofs_per_second"] = dofs / t.fastest;
    return result;
  }

  double now(MPI_Comm communicator)
  {
    MPI_Barrier(communicator);
    return MPI_Wtime();
  }

  /// One solve of a pseudo-random right-hand side.
  json measure_solve(const CurvedCube &cube, Precision precision, CycleOperator cycle_operator,
      MPI_Comm communicator)
  {
    SolverOptions options;
    options.multigrid.precision = precision;
    options.multigrid.cycle_operator = cycle_operator;
    const Vector<double> b = pseudo_random_vector(cube.finest().grid);
    Vector<double> x(b.block());
    const double begin = now(communicator);
    const std::unique_ptr<BlockSolver> solver = make_block_solver(cube.levels(), options, x, b);
    const double is_set_up = now(communicator);
    const SolveReport report = solver->solve(x, b, Start::zero);
    const double seconds = now(communicator) - is_set_up;
    if (!report.converged())
      throw std::runtime_error(std::string("the solve ended with ") + to_string(report.reason));
    return {{"seconds", seconds}, {"setup_seconds", is_set_up - begin},
        {"dofs_per_second", static_cast<double>(b.block().dofs()) / seconds},
        {"precision", to_string(precision)},
        {"operator", cycle_operator == CycleOperator::cell_mean ? "cell_mean" : "true_metric"},
        {"iterations", report.iterations},
        {"true_relative_residual", report.true_relative_residual}};
  }

  /// The same of the operator with one coefficient, on as many equal cells, in single.
  json measure_constant(int degree, std::int64_t cells, MPI_Comm communicator)
  {
    Problem problem;
    problem.degree = degree;
    const std::int64_t coarse = cells >> refinements;
    problem.coarse_cells = {coarse, coarse, coarse};
    problem.refinements = refinements;
    const Grid grid = make_grid(problem, MPI_COMM_SELF);
    const CellBasis basis = make_cell_basis(degree);
    SolverOptions options;
    options.multigrid.precision = Precision::single_precision;
    const Vector<double> b = pseudo_random_vector(grid.finest());
    Vector<double> x(b.block());
    BoxSystemSolver<HostContext> solver(
        {grid, basis, laplace::Backend::cpu, HostContext()}, options);
    solver.set_up(x, b);
    const double begin = now(communicator);
    const SolveReport report = solver.solve(x, b, Start::zero);
    const double seconds = now(communicator) - begin;
    if (!report.converged())
      throw std::runtime_error(std::string("the solve ended with ") + to_string(report.reason));
    return {{"seconds", seconds}, {"precision", to_string(options.multigrid.precision)},
        {"operator", "constant"}, {"iterations", report.iterations}};
  }

  /// Of the longest one, in double, and of MatrixFree: 10 numbers per point of a cell and 28 per point of a face.
  void check_memory_of(const BenchmarkOptions &options, int degree, MPI_Comm communicator)
  {
    const std::int64_t blocks = blocks_per_direction(degree, refinements, options.dofs);
    BlockSizes sizes;
    sizes.degree = sizes.geometry_degree = degree;
    sizes.n_blocks = blocks * blocks * blocks;
    sizes.refinements = refinements;
    SolverOptions solver;
    solver.multigrid.precision = Precision::double_precision;
    const double dofs = std::pow(static_cast<double>((blocks << refinements) * (degree + 1)), 3);
    const MemoryBudget budget = make_memory_budget(
        make_memory_plan(sizes, solver).bytes() + 8. * dofs * (12. + 84. / (degree + 1)),
        available_memory(), communicator);
    if (!budget.fits())
      throw ParameterError("--dofs: degree " + std::to_string(degree) + " needs " +
          format_number(1e-9 * budget.needed) + " GB, there are " +
          format_number(1e-9 * budget.available) + " GB; allowed: fewer unknowns");
  }

  class CurvedDegree
  {
  public:
    CurvedDegree(int degree, const BenchmarkOptions &options, MPI_Comm communicator)
      : degree_(degree)
      , repetitions_(options.repetitions)
      , communicator_(communicator)
      , begin_(now(communicator))
      , cube_(degree, blocks_per_direction(degree, refinements, options.dofs), refinements)
      , levels_seconds_(now(communicator) - begin_)
      , dofs_(static_cast<double>(cube_.finest().grid.block.dofs()))
    {}

    json measure()
    {
      json result = {{"degree", degree_}, {"cells", cube_.cells()}, {"dofs", dofs_},
          {"levels_seconds", levels_seconds_}};
      measure_operators(result);
      const auto add = [&](Precision precision, CycleOperator cycle_operator) {
        result["solves"].push_back(measure_solve(cube_, precision, cycle_operator, communicator_));
      };
      add(Precision::double_precision, CycleOperator::true_metric);
      add(Precision::single_precision, CycleOperator::true_metric);
      add(Precision::single_precision, CycleOperator::cell_mean);
      result["solves"].push_back(measure_constant(degree_, cube_.cells(), communicator_));
      return result;
    }

  private:
    template <typename Number>
    struct Step
    {
      explicit Step(const CurvedCube &cube)
        : op(cube.levels(), cube.levels().levels().size() - 1)
        , x(op.make_vector())
        , y(op.make_vector())
        , b(op.make_vector())
      {
        const Vector<double> numbers = pseudo_random_vector(cube.finest().grid);
        for (std::int64_t i = 0; i < x.size(); ++i)
          x[i] = b[i] = static_cast<Number>(numbers[i]);
      }
      void apply() { op.vmult(y, x); }
      void step() { op.chebyshev_step(y, x, &y, b, 0.4, 0.9); }

      PointwiseOperator<Number> op;
      Vector<Number> x, y, b;
    };

    /// By turns, so that what else the machine does meets all of them.
    void measure_operators(json &result)
    {
      Step<double> in_double(cube_);
      Step<float> in_single(cube_);
      std::vector<std::pair<const char *, std::function<void()>>> kinds{
          {"apply, double", [&] { in_double.apply(); }},
          {"step, double", [&] { in_double.step(); }},
          {"apply, single", [&] { in_single.apply(); }},
          {"step, single", [&] { in_single.step(); }}};
      std::unique_ptr<DealiiLaplace> dealii;
      if (degree_ <= DealiiLaplace::max_degree)
      {
        dealii = std::make_unique<DealiiLaplace>(degree_, cube_.cells(), moved_point);
        const double difference = difference_from_dealii(cube_, in_double.op, *dealii);
        if (!(difference < 1e-9))
          throw std::runtime_error("the operator differs from that of deal.II by " +
              std::to_string(difference) + " at degree " + std::to_string(degree_));
        result["difference_from_dealii"] = difference;
        kinds.emplace_back("deal.II", [&] { dealii->apply(); });
      }
      std::vector<std::vector<double>> times(kinds.size());
      for (int r = 0; r < repetitions_; ++r)
        for (std::size_t k = 0; k < kinds.size(); ++k)
          times[k].push_back(timing_of(HostContext(), communicator_, 1, kinds[k].second).fastest);
      for (std::size_t k = 0; k < kinds.size(); ++k)
      {
        std::sort(times[k].begin(), times[k].end());
        const Timing t{times[k][times[k].size() / 2], times[k].front(), times[k].back()};
        result["operators"][kinds[k].first] = entry_of(t, dofs_);
      }
    }

    int degree_, repetitions_;
    MPI_Comm communicator_;
    double begin_;
    CurvedCube cube_;
    double levels_seconds_;
    double dofs_;
  };
} // namespace

nlohmann::json run_curved_benchmark(
    const BenchmarkOptions &options, MPI_Comm communicator, const BenchmarkVoice &voice)
{
  json result = benchmark_head(options, communicator);
  result["benchmark"] = "curved cells";
  result["bandwidth_bytes_per_second"] = measure_scale_bandwidth(communicator, options.repetitions);
  for (const int degree : options.degrees)
    check_memory_of(options, degree, communicator);
  for (const int degree : options.degrees)
  {
    CurvedDegree of_degree(degree, options, communicator);
    result["entries"].push_back(of_degree.measure());
    const json &timed = result["entries"].back()["operators"]["apply, double"];
    voice.say("  degree " + std::to_string(degree) + ": " +
        format_number(1e-6 * timed["dofs_per_second"].get<double>()) + " MDoF/s per rank\n");
  }
  return result;
}

std::string curved_benchmark_table(const nlohmann::json &result)
{
  std::ostringstream table;
  table
      << "| degree | cells | apply | deal.II | quotient | step | step, single | solve | iterations | cycle in double / single | setup / solve | iterations, cell mean | time of one / constant |\n"
      << "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
      << std::fixed;
  for (const json &entry : result["entries"])
  {
    const json &operators = entry["operators"];
    const auto speed = [](const json &timed) {
      return format_number(1e-6 * timed["dofs_per_second"].get<double>());
    };
    const auto seconds = [](const json &timed) { return timed["seconds_fastest"].get<double>(); };
    const bool has_dealii = operators.contains("deal.II");
    const json &slow = entry["solves"][0], &fast = entry["solves"][1],
               &with_means = entry["solves"][2], &constant = entry["solves"][3];
    const auto per_iteration = [](const json &solve) {
      return solve["seconds"].get<double>() / solve["iterations"].get<double>();
    };
    const double setup =
        entry["levels_seconds"].get<double>() + fast["setup_seconds"].get<double>();
    table << "| " << entry["degree"] << " | " << entry["cells"] << "^3 | "
          << speed(operators["apply, double"]) << " | "
          << (has_dealii ? speed(operators["deal.II"]) : "") << " | " << std::setprecision(2);
    if (has_dealii)
      table << seconds(operators["deal.II"]) / seconds(operators["apply, double"]);
    table << " | " << speed(operators["step, double"]) << " | " << speed(operators["step, single"])
          << " | " << speed(fast) << " | " << fast["iterations"] << " | "
          << per_iteration(slow) / per_iteration(fast) << " | "
          << setup / fast["seconds"].get<double>() << " | " << with_means["iterations"] << " | "
          << per_iteration(with_means) / per_iteration(constant) << " |\n";
  }
  table << "\nMDoF/s of a rank, " << result["ranks"] << " at once, fastest of repetitions; "
        << result["cpu"].get<std::string>() << ", " << result["instruction_set"].get<std::string>()
        << ", git " << result["git_hash"].get<std::string>() << '\n';
  return table.str();
}
} // namespace tensormg
