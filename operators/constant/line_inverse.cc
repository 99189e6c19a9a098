#include "operators/constant/line_inverse.h"

namespace tensormg
{
namespace
{
  /// How a direction that lies on one rank is closed.
  BoundaryKind kind_of(Side side)
  {
    return side == Side::dirichlet ? BoundaryKind::dirichlet
        : side == Side::neumann    ? BoundaryKind::neumann
                                   : BoundaryKind::periodic;
  }

  /// values[cell * n + mode] by the positions of LineTables::diagonal.
  std::vector<double> by_position(
      const Block &block, int d, const std::vector<double> &values, double factor)
  {
    const int n = block.n;
    std::vector<double> result(d == 0 ? static_cast<std::size_t>(block.row()) : values.size(), 1.);
    for (std::int64_t cell = 0; cell < block.cells[d]; ++cell)
      for (int mode = 0; mode < n; ++mode)
        result[d == 0 ? mode * block.pitch + cell : cell * n + mode] =
            factor * values[cell * n + mode];
    return result;
  }
} // namespace

LineTables make_line_tables(const LevelGrid &level, const CellBasis &basis, LineSpectra &spectra)
{
  const Block &block = level.block;
  const std::array<double, 3> factors = level.direction_factors();
  LineTables tables;
  tables.diagonal[2] = {0.}; // 2D
  for (int d = 0; d < block.dim; ++d)
  {
    const auto size = static_cast<std::size_t>(block.cells[d] * block.n);
    std::vector<double> values;
    if (level.exact[d])
    {
      const BoundaryKind lower = kind_of(level.sides[2 * d]),
                         upper = kind_of(level.sides[2 * d + 1]);
      std::vector<double> &rows = tables.to_modes[d], &columns = tables.from_modes[d];
      const LineSpectrum &spectrum = spectra.of(basis, block.cells[d], lower, upper);
      rows = spectrum.vectors;
      values = spectrum.values;
      columns.resize(rows.size());
      for (std::size_t e = 0; e < size; ++e)
        for (std::size_t u = 0; u < size; ++u)
          columns[u * size + e] = rows[e * size + u];
    }
    else
      for (std::int64_t cell = 0; cell < block.cells[d]; ++cell)
        values.insert(values.end(), basis.lambda.begin(), basis.lambda.begin() + block.n);
    tables.diagonal[d] = by_position(block, d, values, factors[d]);
  }
  return tables;
}
} // namespace tensormg
