#include "tensormg/report.h"

#include <cmath>
#include <cstdio>

namespace tensormg
{
const char *to_string(StopReason reason)
{
  switch (reason)
  {
    case StopReason::converged:
      return "converged";
    case StopReason::iteration_limit:
      return "iteration_limit";
    case StopReason::stagnated:
      return "stagnated";
    case StopReason::not_finite:
      return "not_finite";
    case StopReason::indefinite_preconditioner:
      return "indefinite_preconditioner";
  }
  return "unknown";
}

int exit_code(StopReason reason)
{
  switch (reason)
  {
    case StopReason::converged:
      return 0;
    case StopReason::iteration_limit:
      return 3;
    case StopReason::stagnated:
      return 4;
    case StopReason::not_finite:
      return 5;
    case StopReason::indefinite_preconditioner:
      return 6;
  }
  return 1;
}

std::string number_text(double value)
{
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

double SolveReport::mean_reduction() const
{
  if (iterations == 0 || residuals.size() < 2 || residuals.front() == 0.)
    return 0.;
  return std::pow(residuals.back() / residuals.front(), 1. / iterations);
}
} // namespace tensormg
