// The problem of a product of sines in 2D, for solves by the program.
#pragma once

#include "apps/parameters/parameters.h"
#include "tests/support/temporary_directory.h"

namespace tensormg::test
{
/// Degree 3, one cell refined three times; files go to the directory, and none of the solution.
inline Parameters sine_problem(const TemporaryDirectory &directory)
{
  Parameters parameters;
  parameters.problem.dim = 2;
  parameters.problem.degree = 3;
  parameters.problem.refinements = 3;
  parameters.problem.right_hand_side = "2*pi^2*sin(pi*x)*sin(pi*y)";
  parameters.problem.exact_solution = "sin(pi*x)*sin(pi*y)";
  parameters.problem.constants["pi"] = 3.14159265358979323846;
  parameters.output.directory = directory.path().string();
  parameters.output.write_vtu = false;
  return parameters;
}
} // namespace tensormg::test
