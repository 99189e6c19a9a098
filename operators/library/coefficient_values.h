// K by its values at the points of the operator of the finest level (tensormg/mesh_solver.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/metric.h"

namespace tensormg
{
/// Points of a cell and of its sides.
std::int64_t points_of_cell_and_sides(int dim, int n);

/// On the finest level K has these values; on coarser ones the samples take that of the nearest point within their cell of the finest level, as if
/// it were constant in the part of the cell whose lengths are the weights of the quadrature. Of levels that each rank has as a whole, where the finest one
/// is divided, every rank gets samples of all, so many that they also serve levels which other values of K lead to.
/// Throws MemoryError where these are too many. `values`: each component of all points, one component after the other. Collective.
DiffusionTensor tensor_of_values(const BlockLevels &levels, std::vector<double> values);
/// What it holds, of so many values.
double bytes_of_values(const BlockLevels &levels, std::size_t n_values);
} // namespace tensormg
