// What a launch of the line kernel needs, in constant memory: see kernel.cuh.
#pragma once

#include "kernels/laplace/laplace.h"
#include "kernels/laplace/lines/tile.h"

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
  C v[n], h[n];         ///< traces of mode m at the upper end of a cell: value, half derivative
  C face_v[3][n],
      face_g[3][n]; ///< c_d v_i, c_d g_i in units of scale[d]: what traces are multiplied by
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
