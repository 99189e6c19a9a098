// One direction of an operator on axis-parallel cells that is a sum of tensor products.
#pragma once

#include <array>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "operators/constant/line_operator.h"
#include "operators/mesh/grid.h"

namespace tensormg
{
/// A = sum_a A_a (x) product of M_e, e != a, + reaction times the product of all M_e: where coefficients of cells are products of
/// functions of x, y and z (Separation), A_a is the operator of a line with one c per cell (kernels/laplace/cellwise/cellwise.h), and
/// M_a is diagonal with one number per cell.
struct LinePencil
{
  std::vector<double> c, mass;   ///< of the cells
  std::array<double, 2> kappa{}; ///< of Robin ends
  BoundaryKind lower = BoundaryKind::dirichlet, upper = BoundaryKind::dirichlet;

  bool operator==(const LinePencil &) const = default;
};

/// Of direction d of a level whose cells have a Separation; dimensionless as CellNumbersOf.
LinePencil line_pencil(const LevelGrid &level, const Problem &problem, int d);
/// The factor of the product of all M_e, likewise.
double pencil_reaction(const LevelGrid &level);

/// A_a, row-major, symmetric, index cell * n + mode.
std::vector<double> line_operator(const CellBasis &basis, const LinePencil &pencil);

/// A_a v = lambda M_a v, v' M_a v = 1.
LineSpectrum spectrum(const CellBasis &basis, const LinePencil &pencil);
} // namespace tensormg
