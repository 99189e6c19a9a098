// The solution on the grid that is written.
#pragma once

#include <cstddef>

#include "apps/common/output.h"
#include "apps/parameters/parameters.h"
#include "operators/mesh/grid.h"

namespace tensormg
{
/// x, or its L2 projection to the finest level of grid_of_output(). Place: restricted(fine level, coarse level, x).
template <typename Place, typename VectorType>
VectorType on_level_of_output(
    const OutputOptions &output, const Grid &grid, const Place &place, VectorType x)
{
  if (!output.write_vtu)
    return x;
  const std::size_t count = grid_of_output(grid, output).levels.size();
  for (std::size_t l = grid.levels.size(); l > count; --l)
    x = place.restricted(grid.levels[l - 1], grid.levels[l - 2], x);
  return x;
}
} // namespace tensormg
