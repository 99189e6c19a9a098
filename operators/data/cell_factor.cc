#include "operators/data/cell_factor.h"

#include <utility>

namespace tensormg
{
CellFactor size_factor(const LevelGrid &level, const std::array<int, 3> &exponents)
{
  if (level.has_equal_cells())
    return {};
  return [&level, exponents](std::int64_t cx, std::int64_t cy, std::int64_t cz) {
    const std::array cell{cx, cy, cz};
    double factor = 1.;
    for (std::size_t d = 0; d < 3; ++d)
    {
      const double size = level.axis[d].relative_size(level.offset[d] + cell[d]);
      if (exponents[d] > 0)
        factor *= size;
      else if (exponents[d] < 0)
        factor /= size;
    }
    return factor;
  };
}

CellFactor product(CellFactor a, CellFactor b)
{
  if (!a || !b)
    return a ? a : b;
  return [a = std::move(a), b = std::move(b)](std::int64_t cx, std::int64_t cy, std::int64_t cz) {
    return a(cx, cy, cz) * b(cx, cy, cz);
  };
}
} // namespace tensormg
