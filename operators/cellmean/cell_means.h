// One metric for each curved cell: the numbers of kernels/laplace/cellmean/cellmean.h.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/core/array.h"
#include "kernels/laplace/cellmean/cellmean.h"
#include "operators/pointwise/block_levels.h"

namespace tensormg
{
/// What the means of the metric at points leave out.
struct MetricVariation
{
  /// Of all cells the largest quotient of the extreme eigenvalues of M^-1/2 G M^-1/2 over the volume points of a cell, M the mean of G.
  double within = 1.;
  /// Of all numbers of points the largest difference from that of the cell, by its size: zero where both operators are the same.
  double deviation = 0.;
};

/// The means of G, of the reaction and of T over the points of the volume and of each side, with the weights of the quadrature. T is at least what keeps
/// the operator positive definite, sigma / 2 (kappa G_aa + kappa' G_aa') with these G, but at Side::neumann. Larger ones, from where G varies, are
/// nearer to the operator of the points. Collective over `shared`, which may be nullptr as in PointwiseMetric.
Array<double> cell_means(const Block &block, std::int64_t per_direction, const CellBasis &basis,
    const std::vector<laplace::BlockLink> &links, const laplace::PointNumbers<double> &points,
    const SharedSides *shared = nullptr);

/// `means`: of these points. Of the own cells.
MetricVariation metric_variation(const Block &block, const laplace::PointTables &tables,
    const laplace::PointNumbers<double> &points, const Array<double> &means);

/// Of all ranks of a level with a metric at points; collective.
MetricVariation metric_variation(const BlockLevels::Level &level);
Array<double> cell_means(const BlockLevels::Level &level);
} // namespace tensormg
