// The diagonal of the operator on curved cells, which a smoother divides by.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/laplace/pointwise/pointwise.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// The entries (A u)_i of the unit vectors u_i, by contractions with squares of the tables: O(n^(d+1)) for a cell. Padding is zero.
Vector<double> pointwise_diagonal(const Block &block, std::int64_t per_direction,
    const CellBasis &basis, const laplace::PointTables &tables,
    const std::vector<laplace::BlockLink> &links, const laplace::PointNumbers<double> &numbers);
} // namespace tensormg
