// What a launch of the tensor-core line kernel needs, in constant memory: see lines_kernel.cuh.
#pragma once

#include "kernels/laplace/laplace.h"
#include "kernels/laplace/lines_tile.h"

namespace tensormg::laplace
{
template <typename Number, int n>
struct LinesParameters
{
  using C = Compute<Number>;
  /// Factors M of what a neighbour's modes add, c_d (v_i h_m + g_i v_m) in units of scale[d], at [i][m]: the
  /// lower neighbour's with the sign (-1)^i, the upper one's with (-1)^m.
  C neighbour[3][n][n];
  C scale[3]; ///< powers of two such that weights fit into FP16; otherwise 1
  C lambda[3][n];
  C alpha, keep, theta; ///< chebyshev: alpha, 1 + theta - alpha, theta
  C ghost_v[2][n],
      ghost_g[2][n]; ///< c_d v, c_d g for d = 1, 2: what the traces of ghosts are multiplied by
  Form form;
  Side sides[6];
  const C *ghost[6];
  const Number *src, *b, *old; ///< old: nullptr if it does not count
  Number *dst;
  std::int64_t pitch, row, plane; ///< from mode i, j, k to the next
  std::int64_t planes, rows_per_plane;
  int nx, ny, nz; ///< cells
  LinesGrid grid;
};
} // namespace tensormg::laplace
