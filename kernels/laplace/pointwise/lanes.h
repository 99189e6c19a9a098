// Numbers of neighbouring cells side by side: what is done at points of one cell is done for as many as a register holds.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "kernels/core/block.h"
#include "kernels/core/simd.h"

namespace tensormg
{
inline constexpr int n_lanes = simd::native_width<double>;
static_assert(row_granularity % n_lanes == 0);
using Lanes = simd::Vec<double, n_lanes>;

inline Lanes all_lanes(double x) { return simd::broadcast<n_lanes>(x); }
inline Lanes load_lanes(const double *from) { return simd::load<n_lanes>(from); }
inline Lanes sqrt(Lanes x)
{
  for (int l = 0; l < n_lanes; ++l)
    x[l] = std::sqrt(x[l]);
  return x;
}
inline Lanes min(Lanes x, Lanes y) { return x < y ? x : y; }
inline Lanes max(Lanes x, Lanes y) { return x > y ? x : y; }

/// Neighbours of a row of a block. In the last lanes there may be padding.
struct CellsInLanes
{
  std::array<std::int64_t, 3> first;
  int count;

  std::array<std::int64_t, 3> operator[](int lane) const
  {
    return {first[0] + lane, first[1], first[2]};
  }
};

/// Calls use(CellsInLanes) until it has had all cells.
template <typename Use>
void for_lanes(const Block &block, const Use &use)
{
  for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
    for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
      for (std::int64_t cx = 0; cx < block.cells[0]; cx += n_lanes)
        use(CellsInLanes{
            {cx, cy, cz}, static_cast<int>(std::min<std::int64_t>(n_lanes, block.cells[0] - cx))});
}

} // namespace tensormg
