// Levels on which all cells are affine with one K each: one metric per cell, and no points.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "kernels/laplace/pointwise/pointwise.h"
#include "operators/blocks/block_geometry.h"
#include "operators/division/block_division.h"
#include "operators/pointwise/metric.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// Whether every block is a parallelepiped, and so all of its cells on every level: its polynomials, which nothing moves, have all nodes where the affine map
/// of its edges at corner 0 has them, but for at most 1e-12 of the block in reference coordinates. By the nodes alone: all ranks find the same.
bool are_affine(const BlockGeometry &geometry);

/// Whether affine cells, so many per direction of a block, have one metric, one reaction and one r of a side each: K is one tensor in each block
/// (DiffusionTensor::is_constant_in_blocks()) or the mean of each of these cells (CellMeansOfK), other numbers are those of blocks, and averages at faces
/// are arithmetic. By what is known of the data, not by values.
bool is_constant_in_cells(const PointwiseData &data, std::int64_t per_direction);

/// The metric of a level for which both hold, from the edges of its blocks: at points, but for rounding, what PointwiseMetric makes of the same data. Throws
/// CoefficientError. Collective over `shared`, which may be nullptr, as in PointwiseMetric.
PointwiseMetric affine_metric(const BlockGeometry &geometry, const BlockLevel &level,
    const CellBasis &basis, const PointwiseData &data, const std::vector<laplace::BlockLink> &links,
    const SharedSides *shared = nullptr);

/// The diagonal of the operator with these numbers of cells (kernels/laplace/cellmean/cellmean.h), where mixed terms of G have none:
///   sum_a G_aa lambda_i + c + sum over sides of (f T - sigma G_aa) v_i^2 - 2 (g - 1) G_aa v_i h_i,   i the mode along a,
/// f = g = 1 between cells, f = g = 2 at Side::dirichlet, f = 1 and g = 0 at Side::neumann. Padding is zero.
Vector<double> cell_mean_diagonal(const Block &block, std::int64_t per_direction,
    const CellBasis &basis, const std::vector<laplace::BlockLink> &links, const double *means);
} // namespace tensormg
