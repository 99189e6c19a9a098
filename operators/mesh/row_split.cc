#include "operators/mesh/row_split.h"

namespace tensormg
{
RowSplit split_rows(const Block &block, const std::array<bool, 6> &waits)
{
  const std::int64_t ny = block.cells[1], nz = block.cells[2];
  const laplace::RowRange whole{0, ny, 0, nz};
  const laplace::RowRange interior{waits[2], ny - waits[3], waits[4], nz - waits[5]};
  if (interior == whole)
    return {whole, {}};
  if (interior.empty())
    return {{0, 0, 0, 0}, {whole}};
  const auto [y_begin, y_end, z_begin, z_end] = interior;
  RowSplit split{interior, {}};
  for (const laplace::RowRange &part : {laplace::RowRange{0, ny, 0, z_begin},
           laplace::RowRange{0, ny, z_end, nz}, laplace::RowRange{0, y_begin, z_begin, z_end},
           laplace::RowRange{y_end, ny, z_begin, z_end}})
    if (!part.empty())
      split.boundary.push_back(part);
  return split;
}
} // namespace tensormg
