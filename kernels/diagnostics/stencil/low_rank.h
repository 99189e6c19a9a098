// The weights of a 2D stencil as a sum of few products of a column and a row, W = sum over r of u_r v_r': then a step is
// `rank` sums along y and along x each; those of a 3D stencil as a column times a plane. In the manner of LoRAStencil (Y. Zhang et al., SC 2024).
// Tests: tests/kernels/diagnostics/stencil/weights_test.cc.
#pragma once

#include <array>

#include "kernels/diagnostics/stencil/stencil.h"

namespace tensormg::stencil
{
inline constexpr int largest_tile_radius = 3;
/// More terms than that take more products than the weights as they are.
constexpr int largest_rank(int radius) { return radius; }

struct LowRank
{
  static constexpr int width = 2 * largest_tile_radius + 1;
  int rank = 0;
  /// The weight at (dx, dy) is the sum over r of column[r][dy + radius] row[r][dx + radius].
  std::array<std::array<double, width>, width> column{}, row{};
};

/// By singular values; those below 1e-14 of the largest are zero. Throws std::invalid_argument for 3D and for
/// radii beyond largest_tile_radius.
LowRank decompose(const Stencil &stencil);

/// The same; throws std::invalid_argument also for weights of a rank beyond largest_rank().
LowRank require_low_rank(const Stencil &stencil);

/// The weights of a 3D stencil of radius 1 as a column along y times a plane: the weight at (dx, dy, dz) is
/// column[dy + 1] plane[dz + 1][dx + 1].
struct LowRankPlanes
{
  std::array<double, 3> column{};
  std::array<std::array<double, 3>, 3> plane{};
};

/// By singular values of the 3 x 9 matrix of weights at (dy; dz, dx); those below 1e-14 of the largest are zero. Throws
/// std::invalid_argument for 2D, for other radii than 1, and for weights of a rank beyond 1: two terms take 8 products of a
/// band, the weights as they are 9 or (a star) 5.
LowRankPlanes require_low_rank_planes(const Stencil &stencil);

/// Weights of `steps` steps in one, as long as nothing leaves the grid between them. Throws std::invalid_argument for
/// 3D, and if the radius of the result is beyond largest_tile_radius.
Stencil fuse_steps(const Stencil &stencil, int steps);
} // namespace tensormg::stencil
