#include "operators/analysis/function_norms.h"

#include <array>
#include <cmath>

#include "operators/mesh/sums_over_ranks.h"

namespace tensormg
{
void NormIntegrals::add(const CellQuadrature &quadrature, const CellPoints &points,
    const std::vector<double> &modes, int dim)
{
  const std::vector<double> values = quadrature.values(modes);
  std::array<std::vector<double>, 3> derivatives;
  for (int a = 0; a < dim; ++a)
    derivatives[a] = quadrature.values(modes, -1, a);
  for (std::size_t q = 0; q < points.size(); ++q)
  {
    const double weight = quadrature.weight(q) * points.det[q];
    volume += weight;
    value += weight * values[q];
    square += weight * values[q] * values[q];
    for (int i = 0; i < dim; ++i)
    {
      double component = 0.;
      for (int a = 0; a < dim; ++a)
        component += points.inverse_j[q][a][i] * derivatives[a][q];
      square_of_gradient += weight * component * component;
    }
  }
}

FunctionNorms function_norms(
    const BlockProblem &problem, const BlockLevels &levels, const Vector<double> &u)
{
  const BlockLevels::Level &fine = levels.levels().back();
  const CellQuadrature quadrature(problem.geometry, fine.shape, fine.basis, fine.basis.n + 1);
  NormIntegrals of_u;
  for_each_cell(problem.geometry, fine.shape, [&](const CellPlace &place) {
    of_u.add(quadrature, quadrature.points(place), modes_of_cell(u, fine.shape, place),
        problem.blocks.dim);
  });
  std::array<double, 4> sums{of_u.square, of_u.square_of_gradient, of_u.value, of_u.volume};
  sum_in_order(sums, levels.communicator());
  if (levels.is_singular())
    sums[0] = std::fmax(0., sums[0] - sums[2] * sums[2] / sums[3]);
  return {std::sqrt(sums[0]), std::sqrt(sums[1])};
}
} // namespace tensormg
