// Numbers about a solution: integrals, extremes, fluxes through sides, values at points.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"
#include "tensormg/problem.h"

namespace tensormg
{
struct SolutionNumbers
{
  double integral = 0.; ///< int u over the box, exactly but for rounding
  double mean = 0.;     ///< of that
  double minimum = 0.;  ///< of the values at the (degree + 1)^dim Gauss points of all cells
  double maximum = 0.;
  double l2_norm = 0.; ///< (int u^2)^(1/2), exactly but for rounding
  /// int a du/dn over the side, n outwards, as the method has it (flux of symmetric interior penalty), per side; none for a
  /// periodic one.
  ///   Dirichlet side with value g:  int a (du/dn - 2 sigma / h (u - g)),  sigma = p(p+1), h across the side
  ///   Neumann side with flux q:     int q
  ///   Robin side with q and r:      int q - r u
  /// With the quadrature of the right-hand side, so that int f and the fluxes of all sides cancel as exactly as the system
  /// is solved.
  std::array<std::optional<double>, 6> side_flux;
};

/// Of the function with the coefficients u on this level, which is the problem's finest one. Sums are taken over the ranks in
/// their order: the same bits for the same number of ranks. Collective over grid.communicator. Throws ExpressionError if a
/// boundary value cannot be evaluated.
SolutionNumbers solution_numbers(
    const Problem &problem, const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u);

struct PointValue
{
  std::array<double, 3> point{};
  double value = 0.;
  std::array<double, 3> gradient{};
};

/// The function and its gradient at points of the box. On faces, edges and corners of cells (up to rounding): the mean of
/// what all cells of the box have there that meet in the point. NaN for a point outside. Collective over
/// grid.communicator.
std::vector<PointValue> values_at(const LevelGrid &grid, const CellBasis &basis,
    const Vector<double> &u, const std::vector<std::array<double, 3>> &points);
} // namespace tensormg
