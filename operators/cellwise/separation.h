// Coefficients of cells that are products of functions of x, y and z.
#pragma once

#include <optional>

#include "operators/mesh/grid.h"

namespace tensormg
{
/// Of a level with `data`, if the coefficients of all cells, and r h / K of all faces of a Robin side, are such products up to 1e-10.
/// Collective.
std::optional<Separation> separation_of(const LevelGrid &level, const CellData &data);

/// Estimate of the condition number of the operator of degree p: what rounding is multiplied with in eigenvalues of its directions.
double condition_number(const LevelGrid &level, const Separation &separation);
} // namespace tensormg
