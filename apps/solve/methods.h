// The methods of `tensormg solve` for vectors in host or in device memory: one text for both.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <mpi.h>

#include "apps/common/console.h"
#include "apps/common/report.h"
#include "apps/common/run_record.h"
#include "apps/parameters/checks.h"
#include "apps/parameters/parameters.h"
#include "apps/solve/direct_refinement.h"
#include "apps/solve/precision_fallback.h"
#include "apps/solve/solve.h"
#include "kernels/core/setup_times.h"
#include "kernels/device/kernel_loading.h"
#include "kernels/laplace/laplace.h"
#include "operators/constant/level_choices.h"
#include "operators/data/errors.h"
#include "operators/data/functions.h"
#include "operators/data/right_hand_side.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"
#include "solvers/cg.h"
#include "solvers/fgmres.h"
#include "solvers/mixed_operator.h"

namespace tensormg
{
/// Time that includes what the slowest rank needs.
inline double now(MPI_Comm communicator)
{
  MPI_Barrier(communicator);
  return MPI_Wtime();
}

/// Calls `f`; what it says about its arguments are words about the user's parameters.
template <typename Function>
auto with_user_data(const Parameters &parameters, const Function &f)
{
  try
  {
    return f();
  }
  catch (const ExpressionError &error)
  {
    fail_for(parameters, error);
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
  const SolverOptions &solver; ///< RunRecord::solver
  const Grid &grid;
  const CellBasis &basis;
  laplace::Backend backend;
  Console &console;

  MPI_Comm communicator() const { return grid.communicator; }
  const SolverOptions &options() const { return solver; }

  IterationCallback callback() const
  {
    return [&console = console, previous = 0.](int iteration, double residual) mutable {
      console.normal(iteration_text(iteration, residual, previous));
      previous = residual;
    };
  }
};

/// A line, unless it is nothing but rounding.
inline void tell_of_removed_mean(const System &system, const Balance &found)
{
  constexpr double rounding = 1e-12;
  if (!(std::abs(found.defect()) > rounding))
    return;
  const Problem &problem = system.parameters.problem;
  double volume = 1.;
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d)
    volume *= problem.upper[d] - problem.lower[d];
  system.console.normal("the mean of the right-hand side and the fluxes, " +
      format_number(found.integral / volume) + " (" + format_number(std::abs(found.defect())) +
      " of that of their magnitudes), was removed: no side is dirichlet\n");
}

/// Evaluates the right-hand side, solves by the method that the parameters name, and measures errors; what
/// happened goes to the record. Returns the solution.
Vector<double> solve_on_host(const System &system, RunRecord &record);
/// The same in device memory. The result is that on the finest level of part_of_output(), empty if no output asks for it.
Vector<double> solve_on_device(const System &system, RunRecord &record);

/// Place: makes the objects of a solve where its vectors lie (host.cc, device.cc). Members:
/// first_calls_are_slow (whether kernels are loaded when they are called first), with it kernels_are_loaded() (those of
/// the options that the user gave, after a wait for who loads them), make_space(), make_vector(),
/// restricted(fine level, coarse level, x), make_operator(), make_direct(), make_preconditioner(), right_hand_side(),
/// initial_guess() where there is one, errors(x), max_abs(x), scale(x, exponent) by a power of two, subtract_mean(x), check_memory(options) that throws, make_profile(), which
/// may be nullptr, joules() (a counter of energy, if there is one), and wait(), after which all that was asked
/// for is done.
template <typename Place>
void solve_directly(const System &system, const Place &place, const typename Place::VectorType &b,
    typename Place::VectorType &x, RunRecord &record)
{
  setup_times::resume();
  const double begin = now(system.communicator());
  const auto space = place.make_space();
  auto op = place.template make_operator<double>();
  auto solver = with_user_data(system.parameters,
      [&] { return setup_times::in_scope("direct solver", [&] { return place.make_direct(); }); });
  place.wait();
  setup_times::pause();
  record.setup_seconds += now(system.communicator()) - begin;
  const std::optional<double> joules =
      place.joules(); // milliseconds, which are no part of the setup
  const double ready = now(system.communicator());
  record.rhs_norm = space.norm(b);
  record.report =
      refine_directly(space, op, solver, x, b, system.options().tolerance, system.callback());
  place.wait();
  record.report.seconds = now(system.communicator()) - ready;
  count_energy(place, joules, record);
}

/// Adds to the record what was used since `before`.
template <typename Place>
void count_energy(const Place &place, const std::optional<double> &before, RunRecord &record)
{
  if (const std::optional<double> after = place.joules(); before && after)
    record.energy_joules = record.energy_joules.value_or(0.) + *after - *before;
}

/// The driver renews its counter about ten times per second: the same solve of 0.16 s seemed to take 50 to 107 J. So
/// short ones, all attempts together, have no energy.
inline void forget_unresolved_energy(RunRecord &record)
{
  constexpr double shortest = 1.;
  if (record.report.seconds < shortest)
    record.energy_joules.reset();
}

/// The times of the slowest rank.
inline LevelTimes slowest(const LevelTimes &times, MPI_Comm communicator)
{
  std::array<double, 3> seconds{times.smoothing, times.transfer, times.coarse};
  MPI_Allreduce(MPI_IN_PLACE, seconds.data(), 3, MPI_DOUBLE, MPI_MAX, communicator);
  return {seconds[0], seconds[1], seconds[2], times.visits};
}

/// Solves B e = b - B x for the error e by one cycle, which is right up to its reduction factor.
template <typename Place, typename Space, typename Operator, typename Preconditioner>
void estimate_algebraic_error(const System &system, const Place &place, const Space &space,
    Operator &op, Preconditioner &multigrid, const typename Place::VectorType &b,
    const typename Place::VectorType &x, RunRecord &record)
{
  const LevelGrid &level = system.grid.finest();
  auto r = space.make_vector(), e = space.make_vector();
  op.residual(r, x, b);
  const double norm = space.norm(r);
  if (norm > 0.)
    multigrid.apply(e, r, norm);
  if (system.parameters.problem.is_singular())
    place.subtract_mean(e);
  double volume = 1.;
  for (int d = 0; d < level.block.dim; ++d)
    volume *= level.cell_size[static_cast<std::size_t>(d)];
  // The modes are orthonormal on the reference cell, and e'Be is H^2 times |grad e|^2 with jumps.
  record.algebraic_l2_error = std::sqrt(volume) * space.norm(e);
  record.algebraic_h1_error =
      std::sqrt(volume * std::max(space.dot(e, r), 0.)) / level.reference_length();
}

/// What the iterative methods share.
template <typename Place>
struct Iteration
{
  using VectorType = typename Place::VectorType;

  const System &system;
  const SolverOptions &options;
  const Place &place;
  const VectorType &b;
  VectorType &x;
  RunRecord &record;
  double begin; ///< of the setup
};

template <typename Place, typename Space, typename V, typename Operator, typename Preconditioner>
void prepare(const Iteration<Place> &iteration, ConjugateGradients<Space, V> &method, Operator &op,
    Preconditioner &multigrid)
{
  method.prepare(op, multigrid, iteration.x, iteration.b);
}

template <typename Place, typename Space, typename V, typename Operator, typename Preconditioner>
void prepare(const Iteration<Place> &iteration, Fgmres<Space, V> &method, Operator &op,
    Preconditioner &multigrid)
{
  // Each number of vectors has kernels of its own; to load them all is worth it where time is short.
  constexpr std::int64_t small_problem = 20'000'000;
  const bool is_small = iteration.place.level().block.dofs() < small_problem;
  method.prepare(op, multigrid, iteration.x, iteration.b, is_small ? 8 : 1);
}

/// Whether the iteration starts from a function of the user.
inline bool has_guess(const System &system)
{
  return !system.parameters.problem.initial_guess.empty() &&
      system.options().solver != OuterSolver::direct;
}

/// Adds to the report of a solve that did not converge that its residual is what rounding x leaves, where it is.
inline void explain_rounding(const System &system, double norm_x, RunRecord &record)
{
  SolveReport &report = record.report;
  const double rounding =
      0x1p-53 * largest_eigenvalue_bound(system.grid, system.basis) * norm_x / report.rhs_norm;
  record.is_rounding = report.true_relative_residual <= rounding;
  const Precision precision = system.options().multigrid.precision;
  if (!record.is_rounding && precision != Precision::double_precision &&
      needs_double(system.grid, system.basis))
    report.detail += std::string("; multigrid.precision = ") + to_string(precision) +
        " holds too little for cells this flat: auto or double";
  if (record.is_rounding)
    report.detail += "; that is what rounding the solution to double precision leaves (up to " +
        number_text(rounding) + "): the solution itself is as exact as that, and a larger " +
        "solver.tolerance can be met";
}

/// Solves, and takes the times. The vectors of the method are gone afterwards: they make room for those of the
/// error estimate, as the memory plan has no others.
template <typename Method, typename Place, typename Space, typename Operator,
    typename Preconditioner>
void iterate_by(Method method, const Iteration<Place> &iteration, const Space &space, Operator &op,
    Preconditioner &multigrid)
{
  const auto &[system, options, place, b, x, record, begin] = iteration;
  if constexpr (Place::first_calls_are_slow)
  {
    const setup_times::Scope scope("first calls");
    const bool kernels_are_loaded = setup_times::in_scope("kernels", [&] {
      return place.kernels_are_loaded() && record.precision_fallback.empty() &&
          record.single_levels == 0; // which are not loaded ahead
    });
    {
      const KernelLoading instead_of_running(place.stream);
      prepare(iteration, method, op, multigrid);
    }
    multigrid.prepare(options.full_multigrid, kernels_are_loaded);
  }
  setup_times::in_scope("waiting for the device", [&] { place.wait(); });
  setup_times::pause();
  record.setup_seconds += now(system.communicator()) - begin;
  const std::unique_ptr<LaunchProfile> profile = place.make_profile();
  const std::optional<double> joules =
      place.joules(); // milliseconds, which are no part of the setup
  const double ready = now(system.communicator());

  if (options.full_multigrid)
    if (space.norm(b) > 0.)
      multigrid.full_start(x, b, options.full_multigrid_cycles);
  const Start start = options.full_multigrid ? Start::given_if_better
      : has_guess(system)                    ? Start::given
                                             : Start::zero;
  record.report = method.solve(op, multigrid, x, b, system.callback(), start);
  record.rhs_norm = record.report.rhs_norm;
  place.wait();
  record.report.seconds = now(system.communicator()) - ready;
  count_energy(place, joules, record);
  if (profile != nullptr)
    record.kernels = profile->stop();
  if (!record.report.converged() && record.rhs_norm > 0.)
    explain_rounding(system, space.norm(x), record);
}

/// Returns the level that left the range of its numbers, if one did.
template <typename Place>
std::optional<std::size_t> iterate(const System &system, const SolverOptions &options,
    const Place &place, const typename Place::VectorType &b, typename Place::VectorType &x,
    RunRecord &record)
{
  setup_times::resume();
  const Iteration<Place> iteration{
      system, options, place, b, x, record, now(system.communicator())};
  const auto space = place.make_space();
  using Space = std::remove_const_t<decltype(space)>;
  auto op = place.template make_operator<double>();
  const auto multigrid = with_user_data(system.parameters, [&] {
    const setup_times::Scope scope("multigrid");
    return place.make_preconditioner(options.multigrid);
  });
  const double tolerance = options.tolerance;
  const int most = options.max_iterations, restart = options.restart;
  const auto with_vectors = [](const auto &make) {
    return setup_times::in_scope("vectors of the method", make);
  };
  const bool is_cg = options.solver == OuterSolver::cg;
  if (options.has_single_basis())
  {
    auto products = place.template make_operator<WideFloat>();
    MixedOperator both(op, products);
    using Vector = typename Space::WideFloatVector;
    if (is_cg)
      iterate_by(
          with_vectors([&] { return ConjugateGradients<Space, Vector>(space, tolerance, most); }),
          iteration, space, both, *multigrid);
    else
      iterate_by(
          with_vectors([&] { return Fgmres<Space, Vector>(space, tolerance, most, restart); }),
          iteration, space, both, *multigrid);
  }
  else if (is_cg)
    iterate_by(with_vectors([&] { return ConjugateGradients<Space>(space, tolerance, most); }),
        iteration, space, op, *multigrid);
  else
    iterate_by(with_vectors([&] { return Fgmres<Space>(space, tolerance, most, restart); }),
        iteration, space, op, *multigrid);

  const std::vector<LevelTimes> times = multigrid->times();
  for (std::size_t l = 0; l < record.levels.size(); ++l)
    record.levels[l].times = slowest(times.at(l), system.communicator());
  if (record.report.reason != StopReason::not_finite)
    estimate_algebraic_error(system, place, space, op, *multigrid, b, x, record);
  if (multigrid->lambda_max() > 0.)
    record.lambda_max = multigrid->lambda_max();
  const StopReason reason = record.report.reason;
  return reason == StopReason::not_finite || reason == StopReason::stagnated
      ? multigrid->broken_level()
      : std::nullopt;
}

/// The initial guess divided by `factor`, a power of two, as b is; without its mean where that is not determined.
template <typename Place>
typename Place::VectorType start_vector(const System &system, const Place &place, double factor)
{
  // Its residual may be some ten orders larger, and squares of that are summed.
  constexpr double largest_start = 1e130;
  auto x = with_user_data(system.parameters, [&] { return place.initial_guess(); });
  if (system.parameters.problem.is_singular())
    place.subtract_mean(x);
  const double largest = place.max_abs(x), allowed = largest_start * factor;
  if (!(largest <= allowed))
    throw ParameterError(
        "problem.initial_guess is too large beside the right-hand side: its coefficients reach " +
        number_text(largest) + ", allowed are " + number_text(allowed));
  if (factor != 1.)
    place.scale(x, -std::ilogb(factor));
  return x;
}

/// b has been divided by `factor`.
template <typename Place>
void solve_iteratively(const System &system, const Place &place,
    const typename Place::VectorType &b, double factor, typename Place::VectorType &x,
    RunRecord &record)
{
  SolverOptions options = system.options();
  MultigridOptions &multigrid = options.multigrid;
  auto broken = iterate(system, options, place, b, x, record);
  const auto is_out_of_range = [&] {
    return record.report.reason == StopReason::not_finite ||
        (record.report.reason == StopReason::stagnated && broken);
  };
  while (is_out_of_range() && multigrid.falls_back_to_single())
  {
    multigrid = raise_levels(multigrid, broken, system.grid.levels.size());
    place.check_memory(options);
    system.console.warning(note_fallback(multigrid, record));
    const double seconds = record.report.seconds;
    x = typename Place::VectorType(); // gives the memory back first
    x = has_guess(system) ? start_vector(system, place, factor) : place.make_vector();
    broken = iterate(system, options, place, b, x, record);
    record.report.seconds += seconds;
  }
}
} // namespace tensormg
