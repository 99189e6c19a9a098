// The coefficients r of K du/dn + r u = q on the faces of cells at Robin sides.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "operators/mesh/grid.h"

namespace tensormg
{
/// CellData::robin of a level.
using FaceNumbers = std::array<std::vector<double>, 6>;

/// Of the finest level: the values in the middle of faces, or with InCell::mean the mean over degree + 1 Gauss points per
/// direction. Throws ExpressionError, naming the parameter and the place, if a value is not finite or negative, or if r is not the
/// same on a whole face though InCell::constant is promised: that is looked for in the middle and near the corners.
FaceNumbers robin_coefficients(const Grid &grid, const CellBasis &basis);

/// Of the next coarser level: the means of the children's faces. Collective.
FaceNumbers coarser_robin(const Problem &problem, const FaceNumbers &fine, const LevelGrid &above,
    const LevelGrid &below);

/// Sets largest_r and largest_kappa of data whose other numbers are there. Collective.
void measure_robin(const LevelGrid &level, CellData &data);

/// The parameter's name.
std::string robin_key(int side);
} // namespace tensormg
