// Values of a solution on curved cells at points.
#pragma once

#include <array>
#include <vector>

#include "operators/data/solution_numbers.h"
#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/block_problem.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// Which points lie in a cell of a rank. Collective.
std::vector<bool> are_inside(const BlockProblem &problem, const BlockLevels &levels,
    const std::vector<std::array<double, 3>> &points);

/// The function with the coefficients u and its gradient at points: the means of what all cells have there. NaN outside of the mesh. Collective.
std::vector<PointValue> values_at(const BlockProblem &problem, const BlockLevels &levels,
    const Vector<double> &u, const std::vector<std::array<double, 3>> &points);
} // namespace tensormg
