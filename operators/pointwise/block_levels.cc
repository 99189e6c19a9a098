#include "operators/pointwise/block_levels.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/basis/make_cell_basis.h"
#include "operators/pointwise/diagonal.h"

namespace tensormg
{
LevelGrid stacked_grid(const Block &block)
{
  LevelGrid grid;
  grid.block = block;
  grid.global_cells = block.cells;
  for (int d = 0; d < block.dim; ++d)
    grid.axis[d] = Axis(0., static_cast<double>(block.cells[d]), block.cells[d]);
  return grid;
}

BlockLevels::BlockLevels(const BlockMesh &mesh, const BlockGeometry &geometry,
    const PointwiseData &data, const Options &options)
  : basis_(make_cell_basis(options.degree))
  , tables_(make_point_tables(basis_))
{
  for (const auto &sides : mesh.sides)
    for (int side = 0; side < 2 * mesh.dim; ++side)
    {
      const BlockSide &other = sides[side];
      const Side kind = other.neighbour >= 0 ? Side::ghost : options.side(other.boundary);
      is_singular_ = is_singular_ && kind != Side::dirichlet;
      links_.push_back({kind, other.neighbour, other.side, other.map, other.boundary});
    }
  is_singular_ = options.is_singular.value_or(is_singular_);
  for (int l = 0; l <= options.refinements; ++l)
  {
    const std::int64_t cells = std::int64_t{1} << l;
    try
    {
      add_level(geometry, data, {cells, options.mapping_degree}, l < options.refinements);
    }
    catch (const MeshError &)
    {
      if (l == options.refinements || options.mapping_degree == 1)
        throw;
      add_level(geometry, data, {cells, 1}, true);
    }
  }
}

void BlockLevels::add_level(
    const BlockGeometry &geometry, const PointwiseData &data, BlockLevel shape, bool is_coarse)
{
  const Block block = shape.cells(geometry, basis_.n - 1);
  PointwiseMetric metric(geometry, shape, basis_, data, links_, is_coarse);
  Vector<double> diagonal =
      pointwise_diagonal(block, shape.per_direction, basis_, tables_, links_, metric.view());
  const double largest = *std::max_element(diagonal.data(), diagonal.data() + diagonal.size());
  const double of_cubes = block.dim * *std::max_element(basis_.lambda.begin(), basis_.lambda.end());
  const double scale = std::exp2(std::ceil(std::log2(largest / of_cubes)));
  metric.scale(1. / scale);
  for (std::int64_t at = 0; at < diagonal.size(); ++at)
    diagonal[at] /= scale;
  levels_.push_back({shape, stacked_grid(block), std::move(metric), std::move(diagonal), scale});
}
} // namespace tensormg
