#include "apps/benchmark/curved_device.h"

#include <cmath>
#include <iomanip>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include "apps/benchmark/curved_cube.h"
#include "apps/benchmark/measure.h"
#include "apps/common/console.h"
#include "apps/parameters/parameters.h"
#include "operators/block_solver/block_memory.h"
#include "operators/block_solver/block_solve.h"
#include "operators/block_solver/block_solver.h"
#include "operators/cellmean/cell_mean_kernel.h"
#include "operators/cellmean/device_cell_mean_kernel.h"
#include "operators/curved/pointwise_operator.h"

namespace tensormg
{
namespace
{
  using nlohmann::json;
  constexpr int refinements = 4;

  void check_memory_of(int degree, std::int64_t dofs)
  {
    const std::int64_t blocks = blocks_per_direction(degree, refinements, dofs);
    BlockSizes sizes;
    sizes.degree = sizes.geometry_degree = degree;
    sizes.n_blocks = blocks * blocks * blocks;
    sizes.refinements = refinements;
    SolverOptions options;
    options.multigrid.precision = Precision::double_precision;
    for (const MemoryPlace place : {MemoryPlace::device, MemoryPlace::beside_device})
    {
      const double needed = make_memory_plan(sizes, options, place).bytes(),
                   available = available_at(place);
      if (needed > MemoryBudget::usable_part * available)
        throw ParameterError("--dofs: degree " + std::to_string(degree) + " needs " +
            format_number(1e-9 * needed) + " GB, there are " + format_number(1e-9 * available) +
            " GB; allowed: fewer unknowns");
    }
  }

  template <typename Number>
  class DeviceOperator
  {
    using C = Compute<Number>;

  public:
    DeviceOperator(const CurvedCube &cube, bool has_means, const DeviceContext &context)
      : level_(cube.finest())
      , has_means_(has_means)
      , context_(context)
      , on_host_(cube.levels(), cube.levels().levels().size() - 1, nullptr,
            has_means ? std::make_unique<CellMeanKernel<Number>>(level_) : nullptr)
      , op_(cube.levels(), cube.levels().levels().size() - 1, nullptr,
            has_means ? std::make_unique<DeviceCellMeanKernel<Number>>(level_, context) : nullptr,
            context)
      , given_(on_host_.make_vector())
      , x_(op_.make_vector())
      , y_(op_.make_vector())
      , b_(op_.make_vector())
    {
      const Vector<double> numbers = pseudo_random_vector(level_.grid);
      for (std::int64_t i = 0; i < given_.size(); ++i)
        given_[i] = Number(static_cast<C>(numbers[i]));
      copy_to_device(given_, x_, context_.stream);
      copy_to_device(given_, b_, context_.stream);
    }

    json measure(int repetitions, double bandwidth)
    {
      constexpr double allowed = sizeof(Number) == 8 ? 1e-12 : sizeof(Number) == 4 ? 1e-4 : 1e-2;
      const double difference = difference_from_host();
      if (!(difference < allowed))
        throw std::runtime_error(std::string("the operator on the device, ") +
            precision_name<Number> + ", differs from that of the host by " +
            std::to_string(difference));
      json result = {{"precision", precision_name<Number>},
          {"metric", has_means_ ? "one per cell" : "at points"},
          {"difference_from_host", difference}};
      const double dofs = static_cast<double>(level_.grid.block.dofs());
      const auto add = [&](const char *name, double bytes, const auto &f) {
        const Timing t = timing_of(context_, MPI_COMM_SELF, repetitions, f);
        result[name] = json_of(t);
        result[name].update({{"dofs_per_second", dofs / t.fastest}, {"bytes_per_dof", bytes},
            {"percent_of_scale", 100. * bytes * dofs / t.fastest / bandwidth}});
      };
      const double of_apply = metric_bytes() + 2. * sizeof(Number);
      add("apply", of_apply, [&] { op_.vmult(y_, x_); });
      add("step", of_apply + 2. * sizeof(Number) + sizeof(C),
          [&] { op_.chebyshev_step(y_, x_, &y_, b_, 0.4, 0.9); });
      return result;
    }

  private:
    /// For each unknown; faces have three numbers for each of their cells, and a penalty.
    double metric_bytes() const
    {
      const double n = level_.grid.block.n;
      if (has_means_)
        return laplace::cell_mean_numbers(3) / std::pow(n, 3) * sizeof(C);
      const bool in_half = sizeof(C) < 8 && level_.is_held_by_half;
      return (6. + 21. / n) * (in_half ? sizeof(Half) : sizeof(C));
    }
    double difference_from_host()
    {
      Vector<Number> expected = on_host_.make_vector(), found = on_host_.make_vector();
      on_host_.vmult(expected, given_);
      op_.vmult(y_, x_);
      copy_to_host(y_, found, context_.stream);
      double difference = 0., norm = 0.;
      for (std::int64_t i = 0; i < found.size(); ++i)
      {
        const double e = static_cast<C>(expected[i]);
        difference += std::pow(static_cast<double>(static_cast<C>(found[i])) - e, 2);
        norm += e * e;
      }
      return std::sqrt(difference / norm);
    }

    const BlockLevels::Level &level_;
    bool has_means_;
    DeviceContext context_;
    PointwiseOperator<Number> on_host_;
    PointwiseOperator<Number, DeviceContext> op_;
    Vector<Number> given_;
    DeviceVector<Number> x_, y_, b_;
  };

  json measure_solve(const CurvedCube &cube, Precision precision, CycleOperator cycle_operator)
  {
    SolverOptions options;
    options.multigrid.precision = precision;
    options.multigrid.cycle_operator = cycle_operator;
    const Vector<double> b = pseudo_random_vector(cube.finest().grid);
    Vector<double> x(b.block());
    const double begin = MPI_Wtime();
    const std::unique_ptr<BlockSolver> solver =
        make_block_solver(cube.levels(), options, x, b, MemoryPlace::device);
    const double setup = MPI_Wtime() - begin;
    SolveReport report = solver->solve(x, b, Start::zero);
    for (int again = 0; again < 2; ++again)
      if (const SolveReport next = solver->solve(x, b, Start::zero); next.seconds < report.seconds)
        report = next;
    if (!report.converged())
      throw std::runtime_error(std::string("the solve ended with ") + to_string(report.reason));
    return {{"seconds", report.seconds}, {"setup_seconds", setup},
        {"dofs_per_second", static_cast<double>(b.block().dofs()) / report.seconds},
        {"precision", to_string(precision)},
        {"operator", cycle_operator == CycleOperator::automatic ? "automatic" : "true_metric"},
        {"iterations", report.iterations},
        {"true_relative_residual", report.true_relative_residual}};
  }

  json measure_curved_degree(
      int degree, const BenchmarkOptions &options, double bandwidth, const DeviceContext &context)
  {
    const double begin = MPI_Wtime();
    const CurvedCube cube(
        degree, blocks_per_direction(degree, refinements, options.dofs), refinements);
    json result = {{"degree", degree}, {"cells", cube.cells()},
        {"dofs", cube.finest().grid.block.dofs()}, {"levels_seconds", MPI_Wtime() - begin}};
    const auto add = [&](auto number) {
      for (const bool has_means : {false, true})
        result["operators"].push_back(DeviceOperator<decltype(number)>(cube, has_means, context)
                                          .measure(options.repetitions, bandwidth));
    };
    add(double{});
    add(float{});
    add(Half{});
    for (const Precision precision :
        {Precision::double_precision, Precision::single_precision, Precision::half_precision})
      for (const CycleOperator which : {CycleOperator::true_metric, CycleOperator::automatic})
        result["solves"].push_back(measure_solve(cube, precision, which));
    return result;
  }
} // namespace

nlohmann::json run_curved_benchmark_on_device(
    const BenchmarkOptions &options, const BenchmarkVoice &voice)
{
  json result = benchmark_head(options, MPI_COMM_SELF);
  result["benchmark"] = "curved cells on a GPU";
  const double bandwidth = measure_device_bandwidth(MPI_COMM_SELF, options.repetitions);
  result["bandwidth_bytes_per_second"] = bandwidth;
  const DeviceProperties device = device_properties();
  result["device"] = {{"name", device.name}, {"driver", device.driver}};
  for (const int degree : options.degrees)
    check_memory_of(degree, options.dofs);
  const OwnedStream stream;
  const DeviceContext context(
      stream.get(), std::make_shared<DeviceVectorSpace::Scratch>(stream.get()));
  for (const int degree : options.degrees)
  {
    result["entries"].push_back(measure_curved_degree(degree, options, bandwidth, context));
    const json &apply = result["entries"].back()["operators"][0]["apply"];
    voice.say("  degree " + std::to_string(degree) + ": " +
        format_number(1e-9 * apply["dofs_per_second"].get<double>()) + " GDoF/s in double\n");
  }
  return result;
}

std::string curved_device_benchmark_table(const nlohmann::json &result)
{
  std::ostringstream table;
  table << "| degree | cells | numbers | metric | A u, GDoF/s | % of scale | step, GDoF/s | % of "
           "scale |\n|---|---|---|---|---|---|---|---|\n"
        << std::fixed;
  for (const json &entry : result["entries"])
    for (const json &op : entry["operators"])
    {
      table << "| " << entry["degree"] << " | " << entry["cells"] << "^3 | "
            << op["precision"].get<std::string>() << " | " << op["metric"].get<std::string>();
      for (const char *form : {"apply", "step"})
        table << " | " << std::setprecision(2) << 1e-9 * op[form]["dofs_per_second"].get<double>()
              << " | " << std::setprecision(0) << op[form]["percent_of_scale"].get<double>();
      table << " |\n";
    }
  table << "\n| degree | cycle | its operator | iterations | setup, s | solve, ms | MDoF/s |\n"
           "|---|---|---|---|---|---|---|\n";
  for (const json &entry : result["entries"])
    for (const json &solve : entry["solves"])
      table << "| " << entry["degree"] << " | " << solve["precision"].get<std::string>() << " | "
            << solve["operator"].get<std::string>() << " | " << solve["iterations"] << " | "
            << std::setprecision(2) << solve["setup_seconds"].get<double>() << " | "
            << 1e3 * solve["seconds"].get<double>() << " | " << std::setprecision(0)
            << 1e-6 * solve["dofs_per_second"].get<double>() << " |\n";
  table << "\nFastest of repetitions; " << result["device"]["name"].get<std::string>() << ", scale "
        << 1e-9 * result["bandwidth_bytes_per_second"].get<double>() << " GB/s, git "
        << result["git_hash"].get<std::string>() << '\n';
  return table.str();
}
} // namespace tensormg
