// Launch of the line kernel, and its instances of all degrees for one product.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/device/launch.cuh"
#include "kernels/device/occupancy.h"
#include "kernels/laplace/dispatch.h"
#include "kernels/laplace/lines/fill.cuh"
#include "kernels/laplace/lines/lines.h"
#include "kernels/tensor/device_resources.cuh"

namespace tensormg::laplace
{
/// Layers of cells whose tiles follow each other in the grid: src and dst of a slab of that many layers, as wide
/// as the block and one tile deep, take 8 MB of the L2 cache, so that a tile finds there what its neighbours in
/// z, then x, then y have read.
template <typename Tile>
int lines_chunk(const Block &block)
{
  const double layer = 2. * double(sizeof(typename Tile::Number)) * double(block.row()) * block.n *
      block.nz() * Tile::layout.rows;
  return static_cast<int>(
      std::clamp<double>(8e6 / layer, 8., double(std::max<std::int64_t>(block.cells[2], 8))));
}

template <typename Tile>
LinesParameters<typename Tile::Number, Tile::n> lines_parameters(
    const Arguments<typename Tile::Number> &a, Form form)
{
  using C = typename Tile::C;
  constexpr int n = Tile::n;
  LinesParameters<typename Tile::Number, n> p{};
  const Block &block = a.block;
  const CellBasis &basis = *a.basis;
  for (int d = 0; d < Tile::dim; ++d)
  {
    const auto weight = [&](int i, int m) {
      return a.factor[d] * (basis.v[i] * basis.h[m] + basis.g[i] * basis.v[m]);
    };
    double most = 0., scale = 1.;
    for (int i = 0; i < n; ++i)
      for (int m = 0; m < n; ++m)
        most = std::max(most, std::abs(weight(i, m)));
    // Weights of FP16 are at most 1024, so that second parts are no subnormal numbers if they matter.
    if (sizeof(typename Tile::Number) == 2 && most > 0.)
      scale = std::ldexp(1., std::ilogb(most) - 9);
    p.scale[d] = static_cast<C>(scale);
    for (int i = 0; i < n; ++i)
    {
      p.lambda[d][i] = static_cast<C>(a.factor[d] * basis.lambda[i]);
      p.face_v[d][i] = static_cast<C>(a.factor[d] * basis.v[i] / scale);
      p.face_g[d][i] = static_cast<C>(a.factor[d] * basis.g[i] / scale);
      for (int m = 0; m < n; ++m)
        p.neighbour[d][i][m] = static_cast<C>(weight(i, m) / scale);
    }
  }
  for (int m = 0; m < n; ++m)
  {
    p.v[m] = static_cast<C>(basis.v[m]);
    p.h[m] = static_cast<C>(basis.h[m]);
  }
  p.alpha = static_cast<C>(a.alpha);
  p.theta = static_cast<C>(a.theta);
  p.keep = static_cast<C>(1. + a.theta - a.alpha);
  p.form = form;
  std::copy(a.sides.begin(), a.sides.end(), p.sides);
  std::copy(a.ghost.begin(), a.ghost.end(), p.ghost);
  p.src = a.src;
  p.b = a.b;
  p.old = form == Form::chebyshev && a.theta != 0. ? a.old : nullptr;
  p.dst = a.dst;
  p.pitch = block.pitch;
  p.row = block.row();
  p.plane = block.plane();
  p.planes = block.planes();
  p.rows_per_plane = block.rows_per_plane();
  p.nx = static_cast<int>(block.cells[0]);
  p.ny = static_cast<int>(block.cells[1]);
  p.nz = static_cast<int>(block.cells[2]);
  const auto [first, end] = require_layers(a.range, block);
  p.grid = {static_cast<int>((block.pitch + Tile::layout.cells() - 1) / Tile::layout.cells()),
      (p.ny + Tile::layout.rows - 1) / Tile::layout.rows, end - first, lines_chunk<Tile>(block),
      first};
  return p;
}

/// Starts dst = B src (or its fused forms) in a.stream.
template <typename Tile, Form form>
void launch_lines(const Arguments<typename Tile::Number> &a)
{
  const auto kernel = &lines::lines_kernel<Tile>;
  resident_blocks(reinterpret_cast<const void *>(kernel), Tile::threads, Tile::shared_bytes);
  const auto p = lines_parameters<Tile>(a, form);
  launch("launching the Laplace kernel of lines", kernel, static_cast<unsigned>(p.grid.blocks()),
      Tile::threads, Tile::shared_bytes, a.stream, p);
}

template <typename Tile>
KernelResources lines_resources_of()
{
  const auto kernel = &lines::lines_kernel<Tile>;
  const tensor::Resources of = tensor::device_resources(
      kernel, Tile::threads, Tile::shared_bytes, Tile::shared_bytes_per_dof);
  return {of.registers, of.shared_bytes, of.local_bytes, of.occupancy, of.shared_bytes_per_entry};
}

template <typename Tile>
LinesKernel<typename Tile::Number> lines_kernel_of()
{
  return {{&launch_lines<Tile, Form::apply>, &launch_lines<Tile, Form::residual>,
              &launch_lines<Tile, Form::chebyshev>},
      &lines_resources_of<Tile>};
}

/// The compiler has one kernel per degree and dimension: forms are told apart at run time.
template <template <Arithmetic, int> typename Product, Arithmetic arithmetic, typename Number,
    int dim>
LinesKernel<Number> lines_of_degree(int degree)
{
  return by_degree<1, max_degree>(degree, [](auto d) {
    return lines_kernel_of<LinesTile<Product<arithmetic, d.value + 1>, dim, Number>>();
  });
}
} // namespace tensormg::laplace
