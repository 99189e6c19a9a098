// What one degree of the benchmark measures, in any context: included where it is compiled for one.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/benchmark/benchmark.h"
#include "apps/benchmark/exchange.h"
#include "operators/constant/laplace_operator.h"
#include "operators/constant/start_vector.h"
#include "operators/solver/box_system.h"

namespace tensormg
{
template <typename Number>
constexpr const char *precision_name = sizeof(Number) == 8 ? "double"
    : sizeof(Number) == 4                                  ? "single"
                                                           : "half";

/// Waits for what has been queued.
template <typename Context>
void wait_for(const Context &context)
{
  if constexpr (Context::on_device)
    device::synchronize(context.stream);
}

/// Time of f, until its work is done, on the slowest rank, repeated after one warm-up.
template <typename Context, typename Function>
Timing timing_of(const Context &context, MPI_Comm communicator, int repetitions, const Function &f)
{
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int r = 0; r <= repetitions; ++r)
  {
    wait_for(context);
    MPI_Barrier(communicator);
    const Clock::time_point start = Clock::now();
    f();
    wait_for(context);
    double time = std::chrono::duration<double>(Clock::now() - start).count();
    MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, communicator);
    if (r > 0)
      times.push_back(time);
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), times.back()};
}

inline nlohmann::json json_of(const Timing &t)
{
  return {{"seconds", t.median}, {"seconds_fastest", t.fastest}, {"seconds_slowest", t.slowest}};
}

template <typename Context>
class DegreeBenchmark
{
public:
  /// `place` must outlive the object.
  DegreeBenchmark(const BenchmarkPlace &place, const Context &context)
    : place_(place)
    , level_(place.grid.finest())
    , context_(context)
    , space_(context.make_space(level_.block, level_.communicator))
  {}

  template <typename Number>
  nlohmann::json measure_operator(int repetitions)
  {
    const double error = error_against_reference<Number>();
    constexpr double allowed = sizeof(Number) == 8 ? 1e-13 : sizeof(Number) == 4 ? 1e-5 : 4e-3;
    if (!(error < allowed))
      throw std::runtime_error(std::string("the operator of backend ") +
          laplace::to_string(place_.backend) + " differs from the reference by " +
          std::to_string(error) + " at degree " + std::to_string(place_.grid.problem.degree) +
          ", " + precision_name<Number>);
    LaplaceOperator<Number, Context> op(level_, place_.basis, place_.backend, context_);
    auto src = some_vector<Number>(1.), b = some_vector<Number>(0.5), old = op.make_vector();
    const auto dofs = static_cast<double>(level_.global_dofs());
    nlohmann::json result = {
        {"precision", precision_name<Number>}, {"error_against_reference", error}};
    const auto entry = [&](const char *name, laplace::Form form, auto &&f) {
      const Timing t = timing_of(context_, place_.grid.communicator, repetitions, f);
      const laplace::Work work = laplace::work_per_dof(form, level_.block.dim, sizeof(Number));
      result[name] = json_of(t);
      result[name].update({{"dofs_per_second", dofs / t.median}, {"bytes_per_dof", work.bytes},
          {"percent_of_scale", 100. * work.bytes * dofs / t.median / place_.bandwidth}});
    };
    entry("apply", laplace::Form::apply, [&] { op.vmult(old, src); });
    entry("chebyshev", laplace::Form::chebyshev,
        [&] { op.chebyshev_step(old, src, &old, b, 0.4, 0.9); });
    result["exchange"] = measure_exchange<Number, Context>(
        level_, place_.basis, place_.backend, context_, repetitions);
    return result;
  }

  nlohmann::json measure_solve(Precision precision)
  {
    using Clock = std::chrono::steady_clock;
    SolverOptions options;
    options.multigrid.precision = precision;
    const auto b = some_vector<double>(1.);
    auto x = space_.make_vector();
    const Clock::time_point start = Clock::now();
    BoxSystemSolver<Context> solver({place_.grid, place_.basis, place_.backend, context_}, options);
    solver.set_up(x, b);
    wait_for(context_);
    const double setup = std::chrono::duration<double>(Clock::now() - start).count();
    SolveReport report;
    constexpr int repetitions = 3;
    const Timing t = timing_of(context_, place_.grid.communicator, repetitions, [&] {
      space_.axpby(0., x, 0., x);
      report = solver.solve(x, b, Start::zero);
    });
    if (!report.converged())
      throw std::runtime_error(std::string("the solve ended with ") + to_string(report.reason));
    const auto dofs = static_cast<double>(level_.global_dofs());
    const double bytes =
        model_solve_bytes(level_.block.dim, report.iterations, options.multigrid.degree, precision);
    nlohmann::json result = json_of(t);
    result.update({{"precision", to_string(precision)}, {"setup_seconds", setup},
        {"dofs_per_second", dofs / t.median}, {"iterations", report.iterations},
        {"reduction", report.mean_reduction()},
        {"true_relative_residual", report.true_relative_residual}, {"bytes_per_dof", bytes},
        {"percent_of_scale", 100. * bytes * dofs / t.median / place_.bandwidth}});
    return result;
  }

private:
  /// On this level, the same numbers whatever the ranks.
  template <typename Number>
  auto some_vector(double factor) const
  {
    const auto from = pseudo_random_vector(level_, context_);
    auto to = context_.template make_vector<Number>(level_.block);
    space_.convert(Context::Space::scale(factor), from, to);
    wait_for(context_); // `from` goes
    return to;
  }

  /// One fused step and the plain operator against the reference backend on an odd mesh.
  template <typename Number>
  double error_against_reference()
  {
    Problem problem = place_.grid.problem;
    problem.coarse_cells = {9, 3, problem.dim == 3 ? 2 : 1};
    problem.refinements = 0;
    problem.upper = {1., 1., 1.};
    const Grid grid = make_grid(problem, MPI_COMM_SELF);
    const LevelGrid &level = grid.finest();
    LaplaceOperator<Number, Context> tested(level, place_.basis, place_.backend, context_);
    LaplaceOperator<Number> oracle(level, place_.basis, laplace::Backend::reference);
    Vector<Number> src(level.block), b(level.block), found(level.block), expected(level.block);
    std::uint32_t state = 1;
    for (Vector<Number> *v : {&src, &b})
      for (std::int64_t line = 0; line < v->size() / v->block().pitch; ++line)
        for (std::int64_t cx = 0; cx < v->block().cells[0]; ++cx)
        {
          state = 1664525U * state + 1013904223U;
          (*v)[line * v->block().pitch + cx] =
              Number(static_cast<float>(state >> 8) * 0x1p-23F - 1.F);
        }
    auto here_src = tested.make_vector(), here_b = tested.make_vector(),
         result = tested.make_vector();
    bring(src, here_src);
    bring(b, here_b);
    double difference = 0., largest = 0.;
    const auto compare = [&] {
      fetch(result, found);
      for (std::int64_t at = 0; at < found.size(); ++at)
      {
        const double e = static_cast<Compute<Number>>(expected[at]);
        const double error =
            std::abs(static_cast<double>(static_cast<Compute<Number>>(found[at])) - e);
        difference = std::isfinite(error) ? std::max(difference, error) : INFINITY;
        largest = std::max(largest, std::abs(e));
      }
    };
    tested.vmult(result, here_src);
    oracle.vmult(expected, src);
    compare();
    tested.chebyshev_step(result, here_src, &here_b, here_b, 0.4, 0.9);
    oracle.chebyshev_step(expected, src, &b, b, 0.4, 0.9);
    compare();
    return difference / largest;
  }
  template <typename Number, typename To>
  void bring(const Vector<Number> &from, To &to) const
  {
    if constexpr (Context::on_device)
      copy_to_device(from, to, context_.stream);
    else
      std::copy_n(from.data(), from.size(), to.data());
  }
  template <typename From, typename Number>
  void fetch(const From &from, Vector<Number> &to) const
  {
    if constexpr (Context::on_device)
      copy_to_host(from, to, context_.stream);
    else
      std::copy_n(from.data(), from.size(), to.data());
  }

  const BenchmarkPlace &place_;
  const LevelGrid &level_;
  Context context_;
  typename Context::Space space_;
};

/// The operators and solves of one degree in all precisions.
template <typename Context>
nlohmann::json measure_degree(
    const BenchmarkPlace &place, const Context &context, int repetitions, BenchmarkVoice &voice)
{
  DegreeBenchmark<Context> benchmark(place, context);
  const std::string mesh = mesh_text(place.grid);
  nlohmann::json entry = {{"degree", place.grid.problem.degree},
      {"cells", place.grid.finest().global_cells}, {"dofs", place.grid.finest().global_dofs()},
      {"backend", laplace::to_string(place.backend)}};
  const auto add_operator = [&](auto number) {
    using Number = decltype(number);
    entry["operators"].push_back(announced(mesh + "operator, " + precision_name<Number>, voice,
        "apply", [&] { return benchmark.template measure_operator<Number>(repetitions); }));
  };
  add_operator(double{});
  add_operator(float{});
  add_operator(Half{});
  for (const Precision precision :
      {Precision::double_precision, Precision::single_precision, Precision::half_precision})
    entry["solves"].push_back(announced(mesh + "solve, " + to_string(precision), voice, "",
        [&] { return benchmark.measure_solve(precision); }));
  return entry;
}
} // namespace tensormg
