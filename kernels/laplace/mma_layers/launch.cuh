// Launch of the tensor-core layer kernel.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/laplace/march/launch.cuh"
#include "kernels/laplace/mma_layers/kernel.cuh"

namespace tensormg::laplace
{
/// A power of two such that the weights of the faces in units of it are at most 1024 = 2^-6 of the largest FP16
/// number, those of D at most 32 times that, and their second parts are no subnormal numbers if they matter.
inline float mma_layers_scale(const Arguments<Half> &a)
{
  double most = 0., diagonal = 0.;
  for (const double factor : a.factor)
  {
    double of_direction = 0.;
    for (int m = 0; m < a.basis->n; ++m)
    {
      most = std::max({most, std::abs(factor * a.basis->v[m]), std::abs(factor * a.basis->g[m])});
      of_direction = std::max(of_direction, factor * a.basis->lambda[m]);
    }
    diagonal += of_direction;
  }
  most = std::max(most, diagonal / 32);
  int exponent = 0;
  std::frexp(most, &exponent); // most < 2^exponent
  return std::ldexp(1.f, std::max(exponent - 10, -15));
}

template <typename Tile, Form form>
MmaLayersParameters<Tile> mma_layers_parameters(const Arguments<Half> &a, int blocks)
{
  MmaLayersParameters<Tile> p{};
  static_cast<TileParameters<Tile> &>(p) = tile_parameters<Tile, form>(a, blocks);
  make_permuted_boxes<Tile, form>(p, a, Tile::rows);
  constexpr int n = Tile::n;
  p.row_beside = make_box_map(a.block, a.src, Tile::cells_x, n, permuted_layout<Tile>);
  for (int d = 0; d < 3; ++d)
    for (int m = 0; m < n; ++m)
      p.lambda[d][m] = static_cast<float>(a.factor[d] * a.basis->lambda[m]);
  for (int slot = 0; slot < 16 * Tile::y_blocks; ++slot)
    p.y_modes[slot] = static_cast<signed char>(Tile::Lines::mode(slot / 16, slot % 16));
  p.of_diagonal = -1.f;
  p.scale = mma_layers_scale(a);
  p.alpha = static_cast<float>(a.alpha);
  p.u_factor = static_cast<float>(1. + a.theta - a.alpha);
  p.theta = static_cast<float>(a.theta);
  return p;
}

/// Starts dst = B src (or its fused forms) in a.stream.
template <typename Tile, Form form>
void launch_mma_layers(const Arguments<Half> &a)
{
  const auto kernel = &mma_layers::mma_layers_kernel<Tile, form>;
  const int blocks = workers_to_start<Tile>(a.block,
      resident_blocks(
          reinterpret_cast<const void *>(kernel), Tile::threads, Tile::shared_bytes, 90));
  // Cooperative, since the blocks look at each other's progress.
  launch_cooperative("launching the Laplace kernel of layers on tensor cores", kernel, blocks,
      Tile::threads, Tile::shared_bytes, a.stream, mma_layers_parameters<Tile, form>(a, blocks));
}
} // namespace tensormg::laplace
