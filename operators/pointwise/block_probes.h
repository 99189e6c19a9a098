// Values of a solution on curved cells at points.
#pragma once

#include <array>
#include <vector>

#include "operators/data/solution_numbers.h"
#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/block_problem.h"
#include "operators/pointwise/cell_quadrature.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// A cell in which a point lies, and where: reference coordinates of [0, 1].
struct PointInCell
{
  CellPlace place;
  std::array<double, 3> reference{};
};

/// For each point the cells that this rank has of the finest level in which it lies, or on whose sides, up to 1e-6 of a cell: the cell's polynomials are inverted by
/// Newton's method where the point is in the box around its nodes. None: it lies elsewhere, or outside of the mesh.
std::vector<std::vector<PointInCell>> find_points(const BlockProblem &problem,
    const BlockLevel &level, const std::vector<std::array<double, 3>> &points);

/// Which points lie in a cell of a rank. Collective.
std::vector<bool> are_inside(const BlockProblem &problem, const BlockLevels &levels,
    const std::vector<std::array<double, 3>> &points);

/// The function with the coefficients u and its gradient at points: the means of what all cells have there. NaN outside of the mesh. Collective.
std::vector<PointValue> values_at(const BlockProblem &problem, const BlockLevels &levels,
    const Vector<double> &u, const std::vector<std::array<double, 3>> &points);
} // namespace tensormg
