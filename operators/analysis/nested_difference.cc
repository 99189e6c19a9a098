#include "operators/analysis/nested_difference.h"

#include <array>
#include <cmath>
#include <stdexcept>

#include "operators/analysis/function_norms.h"
#include "operators/block_multigrid/block_transfer.h"
#include "operators/mesh/sums_over_ranks.h"
#include "operators/pointwise/cell_quadrature.h"

namespace tensormg
{
namespace
{
  /// The polynomials of v, of the cells of the finest level before they were halved. Of several ranks those of the own blocks, or of all.
  Vector<double> on_halved_cells(const BlockLevels &levels, const Vector<double> &v)
  {
    const BlockLevels::Level &fine = levels.levels().back();
    const Block &block = fine.grid.block;
    Vector<double> result(block);
    std::array<std::int64_t, 3> cells = block.cells;
    for (int d = 0; d < block.dim; ++d)
      cells[d] /= 2;
    if (v.block() == Block(block.dim, block.degree(), cells))
    {
      TransferOperator<double>(
          stacked_grid(block), stacked_grid(v.block()), fine.basis, laplace::Backend::cpu)
          .prolongate(result, v, 1., false);
      return result;
    }
    const std::size_t size = levels.levels().size();
    if (size < 2 || levels.levels()[size - 2].grid.block != v.block())
      throw std::invalid_argument("the coarser solution is not on cells of twice the size");
    BlockTransfer<double>(fine, levels.levels()[size - 2]).prolongate(result, v, 1., false);
    return result;
  }
} // namespace

NestedDifference nested_difference(const BlockProblem &problem, const BlockLevels &levels,
    const Vector<double> &u, const Vector<double> &v)
{
  const BlockLevels::Level &fine = levels.levels().back();
  const Vector<double> prolongated = on_halved_cells(levels, v);
  const int dim = problem.blocks.dim;
  const CellQuadrature quadrature(problem.geometry, fine.shape, fine.basis, fine.basis.n + 1);
  NormIntegrals of_u, of_difference;
  for_each_cell(problem.geometry, fine.shape, [&](const CellPlace &place) {
    const CellPoints points = quadrature.points(place);
    const std::vector<double> modes = modes_of_cell(u, fine.shape, place);
    std::vector<double> difference = modes_of_cell(prolongated, fine.shape, place);
    for (std::size_t i = 0; i < modes.size(); ++i)
      difference[i] = modes[i] - difference[i];
    of_u.add(quadrature, points, modes, dim);
    of_difference.add(quadrature, points, difference, dim);
  });
  std::array<double, 6> sums{of_difference.square, of_difference.square_of_gradient,
      of_difference.value, of_u.square, of_u.square_of_gradient, of_u.volume};
  sum_in_order(sums, levels.communicator());
  if (levels.is_singular())
    sums[0] = std::fmax(0., sums[0] - sums[2] * sums[2] / sums[5]);
  return {std::sqrt(sums[0]), std::sqrt(sums[1]), std::sqrt(sums[3]), std::sqrt(sums[4])};
}
} // namespace tensormg
