// Launch of marching kernels: tensor maps, weights, grid.
#pragma once

#include "kernels/device/launch.cuh"
#include "kernels/device/occupancy.h"
#include "kernels/device/tensor_map.h"
#include "kernels/laplace/march/parameters.cuh"

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

/// All but b and old. `workers`: blocks, or clusters of them.
template <typename Tile, Form form>
TileParameters<Tile> tile_parameters(const Arguments<typename Tile::Number> &a, int workers)
{
  using C = typename Tile::C;
  constexpr int n = Tile::n;
  TileParameters<Tile> p{};
  const Block &block = a.block;
  p.own = make_box_map(block, a.src, Tile::cells_x, (Tile::rows + 2) * n);
  p.side = make_box_map(block, a.src, Tile::halo_x, Tile::rows * n);
  p.has_old = form == Form::chebyshev && a.old != nullptr && a.theta != 0.;
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
  const auto [first, end] = require_layers(a.range, block);
  p.schedule = MarchSchedule(tiles_of<Tile>(block), end - first, workers, first);
  p.longest = p.schedule.longest();
  p.progress = a.progress;
  return p;
}

/// For tensor cores, whose rows of cells are permuted (SwizzledRows).
template <typename Tile>
inline constexpr BoxLayout permuted_layout =
    Tile::row_bytes == 128 ? BoxLayout::swizzled_128 : BoxLayout::swizzled_64;
/// Boxes of `own_rows` rows of cells of src, and of those of the tile of b, old and dst.
template <typename Tile, Form form>
void make_permuted_boxes(
    TileParameters<Tile> &p, const Arguments<typename Tile::Number> &a, int own_rows)
{
  constexpr int n = Tile::n, cells = Tile::cells_x;
  constexpr BoxLayout layout = permuted_layout<Tile>;
  p.own = make_box_map(a.block, a.src, cells, own_rows * n, layout);
  Block padded = a.block;
  padded.cells[0] = padded.pitch;
  p.result = make_box_map(padded, a.dst, cells, Tile::rows * n, layout);
  if (form != Form::apply)
    p.b = make_box_map(a.block, a.b, cells, Tile::rows * n, layout);
  if (p.has_old)
    p.old = make_box_map(a.block, a.old, cells, Tile::rows * n, layout);
}

template <typename Tile, Form form>
ModeParameters<Tile> mode_parameters(const Arguments<typename Tile::Number> &a, int blocks)
{
  using C = typename Tile::C;
  constexpr int n = Tile::n;
  ModeParameters<Tile> p{};
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
} // namespace tensormg::laplace
