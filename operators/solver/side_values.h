// Values at the nodes of a side of the box, as callers of tensormg::Solver give them, as a function of position.
//
// They are [cell][j][i], cells and nodes of the two directions along the side in the order of the directions, the first one
// fastest; cells are those of the level's block that lie at the side. In 2D [cell][i].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operators/mesh/grid.h"
#include "tensormg/problem.h"

namespace tensormg
{
/// How many; 0 where this rank has no cells at the side.
std::int64_t side_size(const LevelGrid &level, int side);

/// Coordinates of these nodes in direction d, for nodes of a direction in [0, 1].
void side_coordinates(const LevelGrid &level, int side, const std::vector<double> &nodes, int d,
    std::span<double> to);

/// In each cell of the side the polynomial, of degree nodes.size() - 1 in each direction, through the values.
Function side_function(const LevelGrid &level, int side, const std::vector<double> &nodes,
    std::span<const double> values);
} // namespace tensormg
