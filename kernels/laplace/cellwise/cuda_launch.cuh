// Launch of the device kernel of cellwise.h, for the instances of one number type, dimension and form.
#pragma once

#include <algorithm>
#include <array>

#include "kernels/device/launch.cuh"
#include "kernels/device/occupancy.h"
#include "kernels/laplace/cellwise/cuda.h"
#include "kernels/laplace/cellwise/cuda_kernel.cuh"
#include "kernels/laplace/dispatch.h"

namespace tensormg::laplace
{
namespace cellwise
{
  constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

  /// Layers of a segment, for which all blocks finish soonest: whole waves of resident blocks; a segment takes the time of some layers
  /// more to start.
  inline int layers_of_segment(std::int64_t columns, std::int64_t layers, int resident)
  {
    constexpr std::int64_t to_start = 2;
    std::int64_t best = layers, least = -1;
    const std::int64_t most = std::min(layers, ceil_div(4 * std::int64_t(resident), columns));
    for (std::int64_t segments = 1; segments <= most; ++segments)
    {
      const std::int64_t length = ceil_div(layers, segments);
      const std::int64_t time =
          ceil_div(columns * ceil_div(layers, length), resident) * (length + to_start);
      if (least < 0 || time < least)
      {
        least = time;
        best = length;
      }
    }
    return static_cast<int>(best);
  }

  template <typename Tile>
  CellwiseParameters<Tile> parameters(const CellwiseArguments<typename Tile::Number> &a)
  {
    using C = typename Tile::C;
    CellwiseParameters<Tile> p{};
    for (int i = 0; i < Tile::n; ++i)
    {
      p.v[i] = static_cast<C>(a.basis->v[i]);
      p.h[i] = static_cast<C>(a.basis->h[i]);
      p.lambda[i] = static_cast<C>(a.basis->lambda[i]);
      p.v2[i] = static_cast<C>(a.basis->v[i] * a.basis->v[i]);
    }
    p.half_penalty = static_cast<C>(a.basis->penalty / 2.);
    p.theta = static_cast<C>(a.theta);
    p.alpha = static_cast<C>(a.alpha);
    p.block = a.block;
    p.sides = a.sides;
    p.ghost = a.ghost;
    p.cells = a.cells;
    p.src = a.src;
    p.b = a.b;
    p.old = a.theta != 0. ? a.old : nullptr;
    p.dst = a.dst;
    return p;
  }

  template <typename Tile, Form form>
  void launch_tile(const CellwiseArguments<typename Tile::Number> &a)
  {
    if (Tile::dim == 2)
      require_every_row(a.range, a.block);
    const auto kernel = &cellwise_kernel<Tile, form>;
    const int resident =
        resident_blocks(reinterpret_cast<const void *>(kernel), Tile::threads, Tile::shared_bytes);
    CellwiseParameters<Tile> p = parameters<Tile>(a);
    const std::int64_t strips = ceil_div(a.block.pitch, Tile::cells_x);
    const std::int64_t x = Tile::dim == 3 ? strips : ceil_div(strips, Tile::rows);
    const std::int64_t y = Tile::dim == 3 ? ceil_div(a.block.cells[1], Tile::rows) : 1;
    const auto [first, end] = Tile::dim == 3
        ? require_layers(a.range, a.block)
        : std::array<int, 2>{0, static_cast<int>(a.block.cells[1])};
    const std::int64_t layers = end - first;
    p.first_layer = first;
    p.end_layer = end;
    p.layers = layers_of_segment(x * y, layers, resident);
    launch("launching the operator with numbers of each cell", kernel,
        dim3(unsigned(x), unsigned(y), unsigned(ceil_div(layers, p.layers))), Tile::threads,
        Tile::shared_bytes, a.stream, p);
  }
} // namespace cellwise

template <int dim, typename Number, Form form>
ApplyCellwise<Number> *cellwise_cuda_instance(int degree)
{
  return by_degree<1, max_degree>(degree, [](auto d) -> ApplyCellwise<Number> * {
    return &cellwise::launch_tile<CellwiseTileOf<Number, dim, d.value>, form>;
  });
}
} // namespace tensormg::laplace
