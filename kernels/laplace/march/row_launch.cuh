// Parameters of the kernels of row_work.cuh.
#pragma once

#include "kernels/device/l2_halves.h"
#include "kernels/laplace/march/launch.cuh"
#include "kernels/laplace/march/row_work.cuh"

namespace tensormg::laplace
{
template <typename Tile, Form form>
RowParametersOf<Tile, form> row_parameters(const Arguments<typename Tile::Number> &a, int blocks)
{
  using C = typename Tile::C;
  RowParametersOf<Tile, form> p{};
  static_cast<TileParameters<Tile> &>(p) = tile_parameters<Tile, form>(a, blocks / Tile::cluster);
  constexpr int n = Tile::n, cells = Tile::cells_x;
  p.own = make_box_map(a.block, a.src, cells, Tile::rows * n, BoxLayout::plain, Tile::read_box);
  Block padded = a.block;
  padded.cells[0] = padded.pitch;
  p.result = make_box_map(padded, a.dst, cells, Tile::rows * n, BoxLayout::plain, Tile::write_box);
  p.row_beside = make_box_map(a.block, a.src, cells, n);
  p.l2_halves = l2_halves(a.stream);
  double of_diagonal = form == Form::apply ? 1. : -1.;
  if constexpr (form == Form::chebyshev)
  {
    const ChebyshevShares shares(a.alpha, a.theta);
    of_diagonal = shares.keep;
    for (int k = 0; k < n; ++k)
      for (int mode = 0; mode < Tile::modes; ++mode)
      {
        const double diagonal = diagonal_of(a, mode % n, mode / n, k);
        p.factor[k][mode] = static_cast<C>(a.alpha / diagonal);
        p.of_old[k][mode] = static_cast<C>(-shares.drop * diagonal);
      }
    p.theta = static_cast<C>(a.theta);
    p.old = p.has_old ? a.old : nullptr;
  }
  for (int d = 0; d < 3; ++d)
    for (int m = 0; m < n; ++m)
      p.lambda[d][m] = static_cast<C>(of_diagonal * a.factor[d] * a.basis->lambda[m]);
  p.input = a.b;
  return p;
}
} // namespace tensormg::laplace
