// What every launch of a marching kernel needs, in constant memory.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/device/pipeline.cuh"
#include "kernels/laplace/laplace.h"
#include "kernels/laplace/march/schedule.h"

namespace tensormg::laplace
{
template <typename Tile>
struct TileParameters
{
  using Number = typename Tile::Number;
  using C = typename Tile::C;
  static constexpr int n = Tile::n;

  CUtensorMap own, side, b, old; ///< boxes of src (the tile, the cells beside it), of b and old
  CUtensorMap result;            ///< boxes of dst, whose padding is written too
  C v[n], h[n];                  ///< trace weights
  C vd[3][n], gd[3][n];          ///< c_d v, c_d g; negative in the fused forms
  Block block;
  std::array<Side, 6> sides;
  std::array<const C *, 6> ghost;
  Number *dst;
  std::int64_t row, plane; ///< strides of dst: block.row(), block.plane()
  bool has_old;
  MarchSchedule schedule;
  int longest; ///< schedule.longest()
  int tiles_x;
  unsigned *progress; ///< two counters, zero between launches; nullptr: blocks do not wait
};

/// And of those that hold all modes of a cell.
template <typename Tile>
struct ModeParameters : TileParameters<Tile>
{
  using C = typename Tile::C;
  static constexpr int n = Tile::n;

  C diagonal[n][n][n]; ///< [k][j][i]: D; negative in the residual
  C factor[n][n][n];   ///< chebyshev: alpha / D
  C keep, drop;        ///< chebyshev: D (keep u - drop old) is added to the sum
};
} // namespace tensormg::laplace
