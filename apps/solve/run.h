// A run of `tensormg solve` from the right-hand side to the errors, for vectors in host or in device memory.
#pragma once

#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>

#include "apps/solve/methods.h"

namespace tensormg
{
/// Undoes the division of the right-hand side by `factor` in x and in what has been measured.
template <typename Place>
void scale_back(double factor, const Place &place, typename Place::VectorType &x, RunRecord &record)
{
  if (factor == 1.)
    return;
  place.scale(x, std::ilogb(factor));
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
  if (system.parameters.problem.exact_solution.empty())
    return;
  const bool u_is_finite = std::isfinite(place.max_abs(x));
  const Errors errors = with_user_data(system.parameters, [&] { return place.errors(x); });
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

/// Divides b by a power of two, which is returned, if the square of its norm could leave the range of double
/// precision: a norm that underflows would pass for b = 0.
template <typename Place>
double bring_into_range(const System &system, const Place &place, typename Place::VectorType &b)
{
  const double largest = place.max_abs(b);
  if (!std::isfinite(largest))
    fail_for(system.parameters, {"problem.right_hand_side", "problem.coefficient"},
        "the right-hand side (H^2 / a) f of the system, H the smallest side of a cell, with its boundary values, leaves "
        "the range of double precision; allowed: up to 1.8e308");
  if (largest == 0. || (largest > 1e-100 && largest < 1e100))
    return 1.;
  const int exponent = std::ilogb(largest);
  place.scale(b, -exponent);
  return std::ldexp(1., exponent);
}

/// The whole run from the right-hand side to the errors; returns the solution.
template <typename Place>
typename Place::VectorType solve_in(const System &system, const Place &place, RunRecord &record)
{
  const double begin = now(system.communicator());
  typename Place::VectorType b =
      with_user_data(system.parameters, [&] { return place.right_hand_side(); });
  const double factor = bring_into_range(system, place, b);
  typename Place::VectorType x;
  if (has_guess(system))
    x = start_vector(system, place, factor);
  const double with_rhs = now(system.communicator());
  record.rhs_seconds = with_rhs - begin;

  setup_times::resume();
  if (!has_guess(system))
    x = setup_times::in_scope("vectors of the method", [&] { return place.make_vector(); });
  record.setup_seconds += now(system.communicator()) - with_rhs;
  if (system.options().solver == OuterSolver::direct)
    solve_directly(system, place, b, x, record);
  else
    solve_iteratively(system, place, b, factor, x, record);
  forget_unresolved_energy(record);
  verify_success(record);
  scale_back(factor, place, x, record);
  if (system.parameters.problem.is_singular())
    place.subtract_mean(x);
  measure_errors(system, place, x, record);
  return x;
}
} // namespace tensormg
