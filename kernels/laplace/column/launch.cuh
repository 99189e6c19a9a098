// Launch of the column kernel.
#pragma once

#include "kernels/laplace/column/faces.cuh"
#include "kernels/laplace/march/launch.cuh"

namespace tensormg::laplace
{
template <typename Tile, Form form>
LaneParameters<Tile> lane_parameters(const Arguments<typename Tile::Number> &a, int blocks)
{
  using C = typename Tile::C;
  constexpr int n = Tile::n;
  LaneParameters<Tile> p{};
  static_cast<ModeParameters<Tile> &>(p) = mode_parameters<Tile, form>(a, blocks);
  if (form != Form::apply)
    p.b = make_box_map(a.block, a.b, Tile::cells_x, Tile::rows * n);
  if (p.has_old)
    p.old = make_box_map(a.block, a.old, Tile::cells_x, Tile::rows * n);
  const auto &v = a.basis->v, &h = a.basis->h, &g = a.basis->g;
  const double sign = form == Form::apply ? 1. : -1.;
  // The traces of the cell above are V = sum_m s_m v_m u_m and D = -sum_m s_m h_m u_m, s_m = (-1)^m; mode i of its
  // neighbour gets c_d (g_i V - v_i D). Below, modes of different parity have the other sign.
  for (int d = 0; d < 3; ++d)
    for (int i = 0; i < n; ++i)
      for (int m = 0; m < n; ++m)
        p.near[d][i][m] = static_cast<C>(
            sign * a.factor[d] * (m % 2 == 0 ? 1. : -1.) * (g[i] * v[m] + v[i] * h[m]));
  // Lines of two modes have no traces; their h_0 is 0.
  const double unit_v = n > 2 ? v[0] : 1., unit_h = n > 2 ? h[0] : 1.;
  p.unit_v = static_cast<C>(1. / unit_v);
  p.unit_h = static_cast<C>(1. / unit_h);
  p.inverse = static_cast<C>(unit_v * unit_h / (v[0] * h[1] - v[1] * h[0]));
  for (int m = 0; m < n; ++m)
  {
    const int first = m % 2;
    p.v[m] = static_cast<C>(m < 2 ? v[m] / unit_v : v[m] / v[first]);
    p.h[m] = static_cast<C>(m < 2 ? h[m] / unit_h : h[m] / h[first]);
    for (int d = 0; d < 3; ++d)
    {
      p.vd[d][m] = static_cast<C>(sign * a.factor[d] * v[m] * unit_h);
      p.gd[d][m] = static_cast<C>(sign * a.factor[d] * g[m] * unit_v);
    }
  }
  if (form == Form::chebyshev)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
        {
          p.of_old[k][j][i] = -p.drop * p.diagonal[k][j][i];
          p.diagonal[k][j][i] *= p.keep;
        }
  return p;
}

/// Starts dst = B src (or its fused forms) in a.stream.
template <typename Tile, Form form>
void launch_column(const Arguments<typename Tile::Number> &a)
{
  const auto kernel = &column::column_kernel<Tile, form>;
  const int blocks = resident_blocks(
      reinterpret_cast<const void *>(kernel), Tile::threads, Tile::shared_bytes, 90);
  // Cooperative, since the blocks look at each other's progress.
  launch_cooperative("launching the Laplace kernel", kernel, blocks, Tile::threads,
      Tile::shared_bytes, a.stream, lane_parameters<Tile, form>(a, blocks));
}
} // namespace tensormg::laplace
