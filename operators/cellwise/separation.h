// Coefficients of cells that are products of functions of x, y and z.
#pragma once

#include <optional>

#include "operators/mesh/grid.h"

namespace tensormg
{
/// Of a level with `data`, if the coefficients of all cells, and r h / K of all faces of a Robin side, are such products up to 1e-10.
/// Collective.
std::optional<Separation> separation_of(const LevelGrid &level, const CellData &data);

/// Estimate of what rounding of the eigenvalues of the directions is multiplied with: the largest one of a direction over the smallest sum.
double condition_number(
    const LevelGrid &level, const Separation &separation, const Problem &problem);
} // namespace tensormg
