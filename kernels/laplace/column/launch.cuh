// Launch of the column kernel: tensor maps, weights, grid.
#pragma once

#include "kernels/device/launch.cuh"
#include "kernels/device/occupancy.h"
#include "kernels/device/tensor_map.h"
#include "kernels/laplace/column/faces.cuh"

namespace tensormg::laplace
{
template <typename Tile>
int tiles_in_x(const Block &block)
{
  return static_cast<int>((block.cells[0] + Tile::cells_x - 1) / Tile::cells_x);
}
/// Tiles of blocks, or of clusters of them.
template <typename Tile>
int tiles_of(const Block &block)
{
  return tiles_in_x<Tile>(block) *
      static_cast<int>((block.cells[1] + Tile::cells_y - 1) / Tile::cells_y);
}

/// Blocks to start, or clusters of them, where there is room for so many.
template <typename Tile>
int workers_to_start(const Block &block, int most)
{
  return Tile::whole_columns ? blocks_for_whole_columns(tiles_of<Tile>(block), most) : most;
}

/// D of mode (i, j, k).
template <typename Number>
double diagonal_of(const Arguments<Number> &a, int i, int j, int k)
{
  const auto &lambda = a.basis->lambda;
  return a.factor[0] * lambda[i] + a.factor[1] * lambda[j] + a.factor[2] * lambda[k];
}

/// x_new = u + theta (u - old) + alpha / D (b - D u - faces) = alpha / D (b - faces + D (keep u - drop old))
struct ChebyshevShares
{
  double keep, drop;

  ChebyshevShares(double alpha, double theta)
    : keep(alpha != 0. ? (1. + theta - alpha) / alpha : 0.)
    , drop(alpha != 0. ? theta / alpha : 0.)
  {}
};

template <typename Tile, Form form>
TileParameters<Tile> tile_parameters(const Arguments<typename Tile::Number> &a, int blocks)
{
  using C = typename Tile::C;
  constexpr int n = Tile::n;
  TileParameters<Tile> p{};
  const Block &block = a.block;
  p.own = make_box_map(block, a.src, Tile::cells_x, (Tile::rows + 2) * n);
  p.side = make_box_map(block, a.src, Tile::halo_x, Tile::rows * n);
  p.has_old = form == Form::chebyshev && a.old != nullptr && a.theta != 0.;
  if constexpr (Tile::owns_columns)
  {
    if (form != Form::apply)
      p.b = make_box_map(block, a.b, Tile::cells_x, Tile::rows * n);
    if (p.has_old)
      p.old = make_box_map(block, a.old, Tile::cells_x, Tile::rows * n);
  }
  Block padded = block;
  padded.cells[0] = padded.pitch;
  p.result = make_box_map(padded, a.dst, Tile::cells_x, 1, BoxLayout::plain, n);
  const double sign = form == Form::apply ? 1. : -1.;
  for (int m = 0; m < n; ++m)
  {
    p.v[m] = static_cast<C>(a.basis->v[m]);
    p.h[m] = static_cast<C>(a.basis->h[m]);
    for (int d = 0; d < 3; ++d)
    {
      p.vd[d][m] = static_cast<C>(sign * a.factor[d] * a.basis->v[m]);
      p.gd[d][m] = static_cast<C>(sign * a.factor[d] * a.basis->g[m]);
    }
  }
  p.block = block;
  p.sides = a.sides;
  p.ghost = a.ghost;
  p.dst = a.dst;
  p.row = block.row();
  p.plane = block.plane();
  p.tiles_x = tiles_in_x<Tile>(block);
  p.schedule = MarchSchedule(tiles_of<Tile>(block), static_cast<int>(block.cells[2]), blocks);
  p.longest = p.schedule.longest();
  p.progress = a.progress;
  return p;
}

template <typename Tile, Form form>
ColumnParameters<Tile> column_parameters(const Arguments<typename Tile::Number> &a, int blocks)
{
  using C = typename Tile::C;
  constexpr int n = Tile::n;
  ColumnParameters<Tile> p{};
  static_cast<TileParameters<Tile> &>(p) = tile_parameters<Tile, form>(a, blocks);
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i)
      {
        const double diagonal = diagonal_of(a, i, j, k);
        p.diagonal[k][j][i] = static_cast<C>(form == Form::residual ? -diagonal : diagonal);
        p.factor[k][j][i] = static_cast<C>(a.alpha / diagonal);
      }
  const ChebyshevShares shares(a.alpha, a.theta);
  p.keep = static_cast<C>(shares.keep);
  p.drop = static_cast<C>(shares.drop);
  return p;
}

template <typename Tile, Form form>
LaneParameters<Tile> lane_parameters(const Arguments<typename Tile::Number> &a, int blocks)
{
  using C = typename Tile::C;
  constexpr int n = Tile::n;
  LaneParameters<Tile> p{};
  static_cast<ColumnParameters<Tile> &>(p) = column_parameters<Tile, form>(a, blocks);
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
