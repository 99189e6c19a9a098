// Numbers about a solution on curved cells: errors, integrals, extremes, fluxes through boundaries. Of all ranks; collective over
// levels.communicator().
#pragma once

#include <limits>
#include <map>

#include "operators/data/errors.h"
#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/block_problem.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// Errors of u on the finest level against problem.exact_solution and exact_gradient with degree + 3 Gauss points per direction; where the
/// problem is singular the means of both are subtracted first. Throws std::invalid_argument as the box's compute_errors().
Errors compute_errors(
    const BlockProblem &problem, const BlockLevels &levels, const Vector<double> &u);

struct MaterialNumbers
{
  double volume = 0.;
  double integral = 0.; ///< int u
};

struct BlockNumbers
{
  double volume = 0.;
  double integral = 0.; ///< int u
  double l2_norm = 0.;  ///< (int u^2)^(1/2)
  double minimum = std::numeric_limits<
      double>::infinity(); ///< at the (degree + 2)^dim Gauss points of all cells
  double maximum = -std::numeric_limits<double>::infinity();
  std::map<int, MaterialNumbers> materials;
  std::map<int, double> areas; ///< of boundaries by number
  /// int K du/dn over each boundary, n outwards, as the method has it: int F - 2 T (u - g) where u = g, int q and int q - r u elsewhere, with
  /// the quadrature of the right-hand side, so that int f - c u and all fluxes cancel as exactly as the system is solved.
  std::map<int, double> fluxes;
  double source = 0.;    ///< int f
  double reaction = 0.;  ///< int c u, with the quadrature of the operator
  double magnitude = 0.; ///< int |f| + int |c u|, and the integrals of the magnitudes of all fluxes
  /// int 2 T |u| over each boundary where u is given, int |q| + |r u| elsewhere: what a flux is the difference of. One that is less by as much as
  /// the tolerance of a solve is none.
  std::map<int, double> flux_scales;

  /// int f - int c u and all fluxes: zero, but for the residual of the solve and rounding.
  double defect() const;
};
BlockNumbers solution_numbers(
    const BlockProblem &problem, const BlockLevels &levels, const Vector<double> &u);
} // namespace tensormg
