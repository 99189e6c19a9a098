// The metric of curved cells at the points of the operator of kernels/laplace/pointwise/pointwise.h.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "kernels/laplace/pointwise/pointwise.h"
#include "operators/blocks/block_geometry.h"

namespace tensormg
{
/// The modes at Gauss points.
laplace::PointTables make_point_tables(const CellBasis &basis);

/// A symmetric tensor: xx, yy, zz, xy, xz, yz.
using SymmetricTensor = std::array<double, 6>;
/// K at a point of a block.
using DiffusionTensor =
    std::function<SymmetricTensor(std::int64_t block, const std::array<double, 3> &point)>;

/// Blocks of so many cells per direction, and the polynomial degree of the cells' geometry, which takes its Gauss-Lobatto points from the blocks.
struct BlockLevel
{
  std::int64_t per_direction = 1;
  int mapping_degree = 1;

  /// All cells, block by block in x.
  Block cells(const BlockGeometry &geometry, int degree) const
  {
    const std::int64_t n = per_direction;
    return {geometry.dim(), degree, {geometry.n_blocks() * n, n, geometry.dim() == 3 ? n : 1}};
  }
};

/// Nodes of one cell of a block: (mapping_degree + 1)^dim points, x fastest.
std::vector<std::array<double, 3>> cell_nodes(const BlockGeometry &geometry,
    const BlockLevel &level, std::int64_t block, const std::array<std::int64_t, 3> &cell);

/// Volume and face numbers of all cells, dimensionless where K and the geometry are.
///
/// kappa of a cell is the largest eigenvalue of D^-1/2 G D^-1/2, D = diag G, over its volume and face points: 1 where the axes of the cell are
/// those of K and orthogonal, at most the dimension. With it the penalty holds back what the mixed terms of G take. rho of a point of a side is
/// 1, or where it is more G_aa there times the mean of 1 / G_aa over the volume points of the line that ends there, with the weights r_q^2 / w_q, r_q
/// the Lagrange polynomial of point q at the end: by the inequality of Cauchy and Schwarz (D u)^2 at the end is at most the sum of these terms times
/// that of w_q G_q (D u)_q^2.
class PointwiseMetric
{
public:
  /// `links`: of all sides of the blocks. Throws MeshError, naming the place, if det J is not positive at a point; std::invalid_argument if K is not
  /// positive definite there.
  PointwiseMetric(const BlockGeometry &geometry, const BlockLevel &level, const CellBasis &basis,
      const DiffusionTensor &k, const std::vector<laplace::BlockLink> &links);

  laplace::PointNumbers<double> view() const { return {volume_.data(), face_.data()}; }
  /// Multiplies all numbers.
  void scale(double factor);
  double largest_kappa() const { return largest_kappa_; }
  /// Of all cells, the smallest quotient of the smallest det J and the largest one at the points of a cell.
  double least_quality() const { return least_quality_; }

private:
  std::vector<double> volume_, face_;
  double largest_kappa_ = 1., least_quality_ = 1.;
};
} // namespace tensormg
