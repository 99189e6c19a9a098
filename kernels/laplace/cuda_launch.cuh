// Launch of the marching kernel: tensor maps, weights, grid.
#pragma once

#include "kernels/core/cuda_check.h"
#include "kernels/core/launch.cuh"
#include "kernels/core/occupancy.h"
#include "kernels/core/tensor_map.h"
#include "kernels/laplace/cuda_march_stage.cuh"

namespace tensormg::laplace
{
template <typename Tile, Form form>
MarchParameters<Tile> march_parameters(const Arguments<typename Tile::Number> &a, int blocks)
{
  using C = typename Tile::C;
  constexpr int n = Tile::n;
  MarchParameters<Tile> p{};
  const Block &block = a.block;
  p.own = make_box_map(block, a.src, Tile::cells_x, Tile::cells_y * n);
  p.halo_y = make_box_map(block, a.src, Tile::cells_x, n);
  p.halo_x = make_box_map(block, a.src, Tile::halo_x, Tile::cells_y * n);
  p.b = make_box_map(block, a.b, Tile::cells_x, Tile::cells_y * n);
  p.has_old = form == Form::chebyshev && a.old != nullptr && a.theta != 0.;
  if (p.has_old)
    p.old = make_box_map(block, a.old, Tile::cells_x, Tile::cells_y * n);
  for (int m = 0; m < n; ++m)
  {
    p.v[m] = static_cast<C>(a.basis->v[m]);
    p.h[m] = static_cast<C>(a.basis->h[m]);
    for (int d = 0; d < 3; ++d)
    {
      p.vd[d][m] = static_cast<C>(a.factor[d] * a.basis->v[m]);
      p.gd[d][m] = static_cast<C>(a.factor[d] * a.basis->g[m]);
      p.lambda[d][m] = static_cast<C>(a.factor[d] * a.basis->lambda[m]);
    }
  }
  p.alpha = static_cast<C>(a.alpha);
  p.theta = static_cast<C>(a.theta);
  p.start = static_cast<C>(a.alpha != 0. ? 1. - (1. + a.theta) / a.alpha : 0.);
  p.block = block;
  p.sides = a.sides;
  p.ghost = a.ghost;
  p.dst = a.dst;
  p.row = block.row();
  p.plane = block.plane();
  p.tiles_x = static_cast<int>((block.cells[0] + Tile::cells_x - 1) / Tile::cells_x);
  const int tiles_y = static_cast<int>((block.cells[1] + Tile::cells_y - 1) / Tile::cells_y);
  p.schedule = MarchSchedule(p.tiles_x * tiles_y, static_cast<int>(block.cells[2]), blocks);
  p.longest = p.schedule.longest();
  p.progress = a.progress;
  return p;
}

/// Starts b - B src or a Chebyshev step in a.stream.
template <typename Tile, Form form>
void launch_march(const Arguments<typename Tile::Number> &a)
{
  const auto kernel = &march::march_kernel<Tile, form>;
  const int blocks = resident_blocks(
      reinterpret_cast<const void *>(kernel), Tile::threads, Tile::shared_bytes, 90);
  const MarchParameters<Tile> p = march_parameters<Tile, form>(a, blocks);
  // Cooperative, since the blocks look at each other's progress.
  launch_cooperative("launching the Laplace kernel", kernel, blocks, Tile::threads,
      Tile::shared_bytes, a.stream, p);
}
} // namespace tensormg::laplace
