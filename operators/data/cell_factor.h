// What integrals over cells and derivatives are multiplied by where cells differ in size.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "operators/mesh/grid.h"

namespace tensormg
{
/// A number of local cell (cx, cy, cz); empty: 1.
using CellFactor = std::function<double(std::int64_t cx, std::int64_t cy, std::int64_t cz)>;

/// prod_d (h_d / mean h_d)^e_d, e_d = -1, 0 or 1 the exponents, h the sizes of the cell; empty where all cells are equal. `level` must outlive the function.
CellFactor size_factor(const LevelGrid &level, const std::array<int, 3> &exponents);
/// Volume of the cell, in units of the mean one.
inline CellFactor volume_factor(const LevelGrid &level) { return size_factor(level, {1, 1, 1}); }
/// Its area across direction d.
inline CellFactor area_factor(const LevelGrid &level, int d)
{
  return size_factor(level, {d == 0 ? 0 : 1, d == 1 ? 0 : 1, d == 2 ? 0 : 1});
}
/// Inverse of its size in direction d.
inline CellFactor inverse_size_factor(const LevelGrid &level, int d)
{
  return size_factor(level, {d == 0 ? -1 : 0, d == 1 ? -1 : 0, d == 2 ? -1 : 0});
}
/// Both; either may be empty.
CellFactor product(CellFactor a, CellFactor b);
} // namespace tensormg
