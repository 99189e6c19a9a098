// Launch of the tensor-core column kernel.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/laplace/march/launch.cuh"
#include "kernels/laplace/mma_column/kernel.cuh"

namespace tensormg::laplace
{
/// A power of two such that the weights in units of it are at most 1024 = 2^-6 of the largest FP16 number,
/// and their second parts are no subnormal numbers if they matter. `of_cells`: of cells alone, in the residual.
template <typename Tile, Form form>
float mma_column_scale(const ModeParameters<Tile> &p, float of_cells)
{
  float most = of_cells;
  for (int m = 0; m < Tile::n; ++m)
    for (int d = 0; d < 3; ++d)
      most = std::max({most, std::abs(p.vd[d][m]), std::abs(p.gd[d][m])});
  const float of_diagonal =
      form == Form::chebyshev ? std::max(std::abs(p.keep), std::abs(p.drop)) : 1.f;
  for (const auto &plane : p.diagonal)
    for (const auto &line : plane)
      for (const float d : line)
        most = std::max(most, std::abs(d) * of_diagonal);
  int exponent = 0;
  std::frexp(most, &exponent);                          // most < 2^exponent
  return std::ldexp(1.f, std::max(exponent - 10, -15)); // 1 / scale is a number of FP16
}

template <typename Tile, Form form>
MmaColumnParameters<Tile> mma_column_parameters(const Arguments<Half> &a, int blocks)
{
  MmaColumnParameters<Tile> p{};
  static_cast<ModeParameters<Tile> &>(p) = mode_parameters<Tile, form>(a, blocks);
  make_permuted_boxes<Tile, form>(p, a, Tile::rows + 2);
  if constexpr (form == Form::residual)
  {
    const std::array<double, 3> factor{-a.factor[0], -a.factor[1], -a.factor[2]};
    p.scale = mma_column_scale<Tile, form>(
        p, static_cast<float>(jump_weights::largest(*a.basis, factor)));
    p.jumps = make_jump_weights<Tile::n>(*a.basis, factor, p.scale);
  }
  else
    p.scale = mma_column_scale<Tile, form>(p, 0.f);
  return p;
}

/// Starts dst = b - B src, or the Chebyshev step, in a.stream.
template <typename Tile, Form form>
void launch_mma_column(const Arguments<Half> &a)
{
  const auto kernel = &mma_column::mma_column_kernel<Tile, form>;
  const int blocks = resident_blocks(
      reinterpret_cast<const void *>(kernel), Tile::threads, Tile::shared_bytes, 90);
  // Cooperative, since the blocks look at each other's progress.
  launch_cooperative("launching the Laplace kernel on tensor cores", kernel, blocks, Tile::threads,
      Tile::shared_bytes, a.stream, mma_column_parameters<Tile, form>(a, blocks));
}
} // namespace tensormg::laplace
