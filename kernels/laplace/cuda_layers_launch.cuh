// Launch of the layer kernel on CUDA cores.
#pragma once

#include "kernels/core/l2_halves.h"
#include "kernels/laplace/cuda_column_launch.cuh"
#include "kernels/laplace/cuda_layers_cells.cuh"

namespace tensormg::laplace
{
/// What D u is multiplied by in the sums. The Chebyshev step is
///   x_new = u + theta (u - old) + alpha / D (b - D u - faces)
///         = alpha / D (b - faces + D u (1 + theta - alpha) / alpha) - theta old.
template <Form form>
double diagonal_factor(double alpha, double theta)
{
  if constexpr (form == Form::chebyshev)
    return alpha != 0. ? (1. + theta - alpha) / alpha : 0.;
  return form == Form::apply ? 1. : -1.;
}

template <typename Tile, Form form>
LayersParameters<Tile> layers_parameters(const Arguments<typename Tile::Number> &a, int blocks)
{
  using C = typename Tile::C;
  LayersParameters<Tile> p{};
  static_cast<TileParameters<Tile> &>(p) = tile_parameters<Tile, form>(a, blocks / Tile::cluster);
  constexpr int n = Tile::n, cells = Tile::cells_x;
  p.own = make_box_map(a.block, a.src, cells, Tile::rows * n);
  Block padded = a.block;
  padded.cells[0] = padded.pitch;
  p.result = make_box_map(padded, a.dst, cells, Tile::rows * n);
  p.row_beside = make_box_map(a.block, a.src, cells, n);
  p.l2_halves = l2_halves(a.stream);
  const auto &lambda = a.basis->lambda;
  const double of_diagonal = diagonal_factor<form>(a.alpha, a.theta);
  for (int d = 0; d < 3; ++d)
    for (int m = 0; m < n; ++m)
      p.lambda[d][m] = static_cast<C>(of_diagonal * a.factor[d] * lambda[m]);
  p.input = a.b;
  if constexpr (form == Form::chebyshev)
  {
    for (int k = 0; k < n; ++k)
      for (int mode = 0; mode < Tile::modes; ++mode)
      {
        const double diagonal = a.factor[0] * lambda[mode % n] + a.factor[1] * lambda[mode / n] +
            a.factor[2] * lambda[k];
        p.factor[k][mode] = static_cast<C>(a.alpha / diagonal);
        p.of_old[k][mode] = static_cast<C>(a.alpha != 0. ? -a.theta / a.alpha * diagonal : 0.);
      }
    p.theta = static_cast<C>(a.theta);
    p.old = p.has_old ? a.old : nullptr;
  }
  return p;
}

/// Starts dst = B src or its fused forms in a.stream.
template <typename Tile, Form form>
void launch_layers(const Arguments<typename Tile::Number> &a)
{
  const auto kernel = &layers::layers_kernel<Tile, form>;
  const int blocks = blocks_to_start<Tile>(a.block,
      resident_clusters(reinterpret_cast<const void *>(kernel), Tile::cluster, Tile::threads,
          Tile::shared_bytes));
  // Cooperative, since the blocks look at each other's progress.
  launch_cooperative("launching the Laplace kernel of layers", kernel, blocks, Tile::threads,
      Tile::shared_bytes, a.stream, layers_parameters<Tile, form>(a, blocks));
}
} // namespace tensormg::laplace
