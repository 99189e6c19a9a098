// A run of `tensormg solve` from the right-hand side to the errors, for vectors in host or in device memory: one text for both.
//
// Place is where they lie (host.cc, device.cc). It has the members
//   Context, context, level(), space(), data()     of a BoxSystemSolver and a DataInContext,
//   settings()                                     of the SystemSolver,
//   check_memory(options)                          throws if a solve with these does not fit beside bytes_kept(),
//   make_profile()                                 of the launches from here on, or nullptr,
//   joules()                                       a counter of energy, if there is one.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "apps/solve/system.h"
#include "kernels/core/setup_times.h"
#include "kernels/device/meters/launch_profile.h"
#include "operators/solver/box_system.h"
#include "operators/solver/data_in_context.h"

namespace tensormg
{
/// b, divided by a power of two whose exponent is returned.
template <typename Place>
int make_right_hand_side(const System &system, const Place &place, typename Place::VectorType &b)
{
  const Balance found = with_user_data(system.parameters, [&] { return place.data().check(); });
  with_user_data(system.parameters, [&] { place.data().right_hand_side(b); });
  if (system.problem().is_singular())
    tell_of_removed_mean(system, found);
  const double largest = place.space().max_abs(b);
  if (!std::isfinite(largest))
    fail_for(system.parameters, {"problem.right_hand_side", "problem.coefficient"},
        "the right-hand side (H^2 / a) f of the system, H the smallest side of a cell, with its boundary values, leaves "
        "the range of double precision; allowed: up to 1.8e308");
  return place.data().bring_into_range(b, largest);
}

/// x = the initial guess divided by 2^exponent, as b is.
template <typename Place>
void make_start(
    const System &system, const Place &place, int exponent, typename Place::VectorType &x)
{
  // Its residual may be some ten orders larger, and squares of that are summed.
  constexpr double largest_start = 1e130;
  with_user_data(system.parameters, [&] { place.data().initial_guess(x); });
  const double largest = place.space().max_abs(x), allowed = std::ldexp(largest_start, exponent);
  if (!(largest <= allowed))
    throw ParameterError(
        "problem.initial_guess is too large beside the right-hand side: its coefficients reach " +
        number_text(largest) + ", allowed are " + number_text(allowed));
  place.data().scale(x, -exponent);
}

/// What is measured around a solve, and goes to the record.
template <typename Place>
class Meters
{
public:
  Meters(const System &system, const Place &place, RunRecord &record)
    : system_(system)
    , place_(place)
    , record_(record)
  {
    begin_setup();
  }

  void begin_setup()
  {
    setup_times::resume();
    begin_ = now(system_.communicator());
  }
  void begin_solve()
  {
    setup_times::pause();
    record_.setup_seconds += now(system_.communicator()) - begin_;
    if (!system_.is_direct())
      profile_ = place_.make_profile();
    joules_ = place_.joules(); // milliseconds, which are no part of the setup
  }
  void end_solve()
  {
    if (const std::optional<double> after = place_.joules(); joules_ && after)
      record_.energy_joules = record_.energy_joules.value_or(0.) + *after - *joules_;
    if (profile_ != nullptr)
      record_.kernels = profile_->stop();
    profile_.reset();
  }

private:
  const System &system_;
  const Place &place_;
  RunRecord &record_;
  double begin_ = 0.;
  std::unique_ptr<LaunchProfile> profile_;
  std::optional<double> joules_;
};

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

/// What the multigrid of the solver knows, and the error that the end of the iteration leaves.
template <typename Place>
void record_multigrid(const System &system, const Place &place,
    BoxSystemSolver<typename Place::Context> &solver, const typename Place::VectorType &b,
    const typename Place::VectorType &x, RunRecord &record)
{
  const MultigridOptions &options = solver.options().multigrid;
  if (!record.report.precision_fallback.empty() || !record.report.cycle_change.empty())
  {
    record.precision = options.precision;
    record.single_levels = options.single_levels;
    record.coarsening = choose_coarsening(system.grid, options);
  }
  const std::vector<LevelTimes> times = solver.multigrid()->times();
  for (std::size_t l = 0; l < record.levels.size(); ++l)
    record.levels[l].times = slowest(times.at(l), system.communicator());
  if (solver.multigrid()->lambda_max() > 0.)
    record.lambda_max = solver.multigrid()->lambda_max();
  if (record.report.reason == StopReason::not_finite)
    return;
  const auto before_norm = [&](typename Place::VectorType &e) {
    if (system.problem().is_singular())
      place.data().subtract_mean(e);
    place.data().weigh_for_norm(e);
  };
  const ErrorEstimate estimate = solver.estimate_error(x, b, before_norm);
  const LevelGrid &level = system.grid.finest();
  const double volume = level.mean_cell_volume();
  // The modes are orthonormal on the reference cell, and e'Be is H^2 times |grad e|^2 with jumps.
  record.algebraic_l2_error = std::sqrt(volume) * estimate.norm;
  record.algebraic_h1_error = std::sqrt(volume) * estimate.energy / level.reference_length();
}

/// Solves B x = b, where b has been divided by 2^exponent.
template <typename Place>
void solve_system(const System &system, const Place &place, const typename Place::VectorType &b,
    int exponent, typename Place::VectorType &x, RunRecord &record)
{
  Meters<Place> meters(system, place, record);
  BoxSystemSolver<typename Place::Context> solver(
      {system.grid, system.basis, system.backend, place.context}, system.options(),
      place.settings());
  SolveEvents events;
  events.iteration = system.callback();
  events.begins = [&] { meters.begin_solve(); };
  events.has_ended = [&] { meters.end_solve(); };
  events.check_memory = [&](const SolverOptions &options) { place.check_memory(options); };
  events.restarts = [&](const std::string &text) {
    system.console.warning(text);
    meters.begin_setup();
  };
  events.restore_start = [&] { make_start(system, place, exponent, x); };
  with_user_data(system.parameters, [&] {
    solver.set_up(x, b);
    record.report = solver.solve(x, b, system.has_guess() ? Start::given : Start::zero, events);
  });
  record.rhs_norm = record.report.rhs_norm;
  if (!solver.is_direct())
    record_multigrid(system, place, solver, b, x, record);
}

/// Undoes the division of the right-hand side by 2^exponent in x and in what has been measured.
template <typename Place>
void scale_back(int exponent, const Place &place, typename Place::VectorType &x, RunRecord &record)
{
  if (exponent == 0)
    return;
  place.data().scale(x, exponent);
  const double factor = std::ldexp(1., exponent);
  record.rhs_norm *= factor;
  for (double &residual : record.report.residuals)
    residual *= factor;
  for (std::optional<double> *error : {&record.algebraic_l2_error, &record.algebraic_h1_error})
    if (*error)
      **error *= factor;
}

/// The solvers promise this; nobody shall be told of a success that is none.
inline void verify_success(const RunRecord &record)
{
  const double residual = record.report.true_relative_residual;
  if (record.report.converged() && !(residual <= record.tolerance))
    throw std::logic_error("the solver reports convergence, but the residual is " +
        format_residual(residual) + " and the tolerance " + format_residual(record.tolerance));
}

template <typename Place>
void measure_errors(const System &system, const Place &place, const typename Place::VectorType &x,
    RunRecord &record)
{
  if (system.problem().exact_solution.empty())
    return;
  const bool u_is_finite = std::isfinite(place.space().max_abs(x));
  const Errors errors = with_user_data(system.parameters, [&] { return place.data().errors(x); });
  const bool of_a_solution = record.report.reason != StopReason::not_finite;
  const auto keep = [&](std::optional<double> &to, double error, const std::string &key) {
    if (std::isfinite(error))
      to = error;
    else if (of_a_solution)
      system.console.warning("no error is shown: " +
          (u_is_finite ? key + " is infinite or not a number somewhere in the box"
                       : "the solution leaves the range of double precision"));
  };
  keep(record.l2_error, errors.l2, "problem.exact_solution");
  if (errors.has_h1)
    keep(record.h1_error, errors.h1_seminorm, "problem.exact_gradient");
}

/// The whole run from the right-hand side to the errors; returns the solution.
template <typename Place>
typename Place::VectorType solve_in(const System &system, const Place &place, RunRecord &record)
{
  record.exchange = place.exchange();
  if (!record.exchange.empty())
    system.console.normal("exchange     " + record.exchange + '\n');
  const double begin = now(system.communicator());
  const auto make_vector = [&] {
    return place.context.template make_vector<double>(place.level().block);
  };
  typename Place::VectorType b = make_vector(), x;
  const int exponent = make_right_hand_side(system, place, b);
  if (system.has_guess())
  {
    x = make_vector();
    make_start(system, place, exponent, x);
  }
  const double with_rhs = now(system.communicator());
  record.rhs_seconds = with_rhs - begin;

  setup_times::resume();
  if (!system.has_guess())
    x = setup_times::in_scope("vectors of the method", make_vector);
  record.setup_seconds += now(system.communicator()) - with_rhs;
  solve_system(system, place, b, exponent, x, record);
  forget_unresolved_energy(record);
  verify_success(record);
  scale_back(exponent, place, x, record);
  if (system.problem().is_singular())
    place.data().subtract_mean(x);
  measure_errors(system, place, x, record);
  return x;
}
} // namespace tensormg
