// Launch of the 2D kernel: weights and grid.
#pragma once

#include <algorithm>

#include "kernels/device/launch.cuh"
#include "kernels/device/occupancy.h"
#include "kernels/laplace/strips_2d/strips_2d.cuh"
#include "kernels/tensor/device_resources.cuh"

namespace tensormg::laplace
{
/// Rows of cells that one warp marches through, at most. Neighbouring warps drift apart on the way, and
/// the cells between them must be in the cache when the second one asks for them.
inline constexpr int max_strip_rows = 40;

/// Parts in y for which all warps finish soonest: whole waves of resident warps, few rows read twice.
inline int strip_segments(int strips, int ny, int resident)
{
  const auto ceil_div = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t fewest = ceil_div(ny, max_strip_rows);
  const std::int64_t first = ceil_div(fewest * strips, resident);
  std::int64_t best = fewest, least = -1;
  for (std::int64_t waves = first; waves < first + 16; ++waves)
  {
    const std::int64_t parts = std::clamp<std::int64_t>(waves * resident / strips, fewest, ny);
    // A part reads one more row on either side and needs the time of about one row to start.
    const std::int64_t time = ceil_div(parts * strips, resident) * (ceil_div(ny, parts) + 3);
    if (least < 0 || time < least)
    {
      least = time;
      best = parts;
    }
  }
  return static_cast<int>(best);
}

template <typename Tile, Form form>
StripParameters<Tile> strip_parameters(const Arguments<typename Tile::Number> &a, int resident)
{
  using C = typename Tile::C;
  constexpr int n = Tile::n;
  StripParameters<Tile> p{};
  const Block &block = a.block;
  for (int i = 0; i < n; ++i)
  {
    p.v[i] = static_cast<C>(a.basis->v[i]);
    p.h[i] = static_cast<C>(a.basis->h[i]);
    p.vx[i] = static_cast<C>(a.factor[0] * a.basis->v[i]);
    p.gx[i] = static_cast<C>(a.factor[0] * a.basis->g[i]);
    p.vy[i] = static_cast<C>(a.factor[1] * a.basis->v[i]);
    p.gy[i] = static_cast<C>(a.factor[1] * a.basis->g[i]);
    for (int j = 0; j < n; ++j)
    {
      const double diagonal = a.factor[0] * a.basis->lambda[i] + a.factor[1] * a.basis->lambda[j];
      p.diagonal[j][i] = static_cast<C>(form == Form::chebyshev ? a.alpha / diagonal : diagonal);
    }
  }
  p.keep = static_cast<C>(1. + a.theta - a.alpha);
  p.theta = static_cast<C>(a.theta);
  p.pitch = block.pitch;
  p.nx = static_cast<int>(block.cells[0]);
  p.ny = static_cast<int>(block.cells[1]);
  std::copy_n(a.sides.begin(), 4, p.sides);
  p.ghost[0] = a.ghost[2];
  p.ghost[1] = a.ghost[3];
  p.src = a.src;
  p.dst = a.dst;
  p.b = a.b;
  p.old = a.theta != 0. ? a.old : nullptr;
  p.strips = static_cast<int>((block.pitch + Tile::cells - 1) / Tile::cells);
  p.segments = strip_segments(p.strips, p.ny, resident * Tile::warps);
  return p;
}

/// Starts dst = B src (or its fused forms) in a.stream.
template <typename Tile, Form form>
void launch_strip(const Arguments<typename Tile::Number> &a)
{
  require_every_row(a.range, a.block);
  const auto kernel = &strip::strip_kernel<Tile, form>;
  const int resident =
      resident_blocks(reinterpret_cast<const void *>(kernel), Tile::threads, Tile::shared_bytes);
  const StripParameters<Tile> p = strip_parameters<Tile, form>(a, resident);
  const int blocks = (p.strips * p.segments + Tile::warps - 1) / Tile::warps;
  launch("launching the Laplace kernel in 2D", kernel, blocks, Tile::threads, Tile::shared_bytes,
      a.stream, p);
}

template <typename Tile, Form form>
KernelResources strip_resources()
{
  const tensor::Resources of = tensor::device_resources(&strip::strip_kernel<Tile, form>,
      Tile::threads, Tile::shared_bytes, Tile::shared_bytes_per_dof);
  return {of.registers, of.shared_bytes, of.local_bytes, of.occupancy, of.shared_bytes_per_entry};
}
} // namespace tensormg::laplace
