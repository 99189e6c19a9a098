#include "operators/pointwise/cell_quadrature.h"

#include "operators/data/contraction.h"

namespace tensormg
{
namespace
{
  template <typename Use>
  void for_modes(
      const Block &block, const BlockLevel &level, const CellPlace &place, const Use &use)
  {
    const std::int64_t cx = level.stacked(place.block, place.cell[0]);
    for (int k = 0; k < block.nz(); ++k)
      for (int j = 0; j < block.n; ++j)
        for (int i = 0; i < block.n; ++i)
          use(block.index(cx, place.cell[1], place.cell[2], i, j, k));
  }
} // namespace

std::vector<double> modes_of_cell(
    const Vector<double> &u, const BlockLevel &level, const CellPlace &place)
{
  std::vector<double> modes;
  for_modes(u.block(), level, place, [&](std::int64_t at) { modes.push_back(u[at]); });
  return modes;
}

void add_to_cell(const std::vector<double> &modes, const BlockLevel &level, const CellPlace &place,
    Vector<double> &u)
{
  std::size_t next = 0;
  for_modes(u.block(), level, place, [&](std::int64_t at) { u[at] += modes[next++]; });
}

CellQuadrature::CellQuadrature(const BlockGeometry &geometry, const BlockLevel &level,
    const CellBasis &basis, const LineRule &line)
  : dim_(geometry.dim())
  , mapping_degree_(level.mapping_degree)
  , nodes_(geometry, level)
  , map_(dim_, mapping_degree_)
  , inside_(make_line(line))
  , ends_{
        make_line(point_rule(basis, std::array{0.})), make_line(point_rule(basis, std::array{1.}))}
{}

CellQuadrature::CellQuadrature(
    const BlockGeometry &geometry, const BlockLevel &level, const CellBasis &basis, int n_points)
  : CellQuadrature(geometry, level, basis, gauss_rule(basis, n_points))
{}

CellQuadrature::Line CellQuadrature::make_line(const LineRule &rule) const
{
  return {rule, LinePoints(lobatto_nodes(mapping_degree_), rule.points)};
}

CellPoints CellQuadrature::points(const CellPlace &place, int side) const
{
  return map_.at(nodes_.of(place.block, place.cell),
      {&line(0, side).nodes, &line(1, side).nodes, &line(2, side).nodes}, place.block);
}

double CellQuadrature::weight(std::size_t q, int side) const
{
  double weight = 1.;
  const auto n = static_cast<std::size_t>(inside_.rule.n_points());
  for (int d = 0; d < dim_; ++d)
    if (side < 0 || side / 2 != d)
    {
      weight *= inside_.rule.weights[q % n];
      q /= n;
    }
  return weight;
}

namespace
{
  /// Points by modes.
  SmallMatrix points_by_modes(const LineRule &rule, bool is_derivative)
  {
    return SmallMatrix::by_rows(
        is_derivative ? rule.derivatives : rule.values, static_cast<std::size_t>(rule.n_modes));
  }
} // namespace

std::vector<double> CellQuadrature::values(
    const std::vector<double> &modes, int side, int derivative) const
{
  std::vector<double> result = modes;
  std::size_t stride = modes.size();
  for (int d = dim_ - 1; d >= 0; --d)
  {
    const LineRule &rule = line(d, side).rule;
    stride /= static_cast<std::size_t>(rule.n_modes);
    result = contracted(result, points_by_modes(rule, d == derivative), stride);
  }
  return result;
}

std::vector<double> CellQuadrature::tested(
    std::vector<double> values, int side, int derivative) const
{
  std::size_t stride = values.size();
  for (int d = dim_ - 1; d >= 0; --d)
  {
    const LineRule &rule = line(d, side).rule;
    stride /= static_cast<std::size_t>(rule.n_points());
    values = contracted(values, points_by_modes(rule, d == derivative).transposed(), stride);
  }
  return values;
}
} // namespace tensormg
