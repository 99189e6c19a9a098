// Launch of the device kernels of pointwise.h, for the instances of a pair of number types and a dimension.
#pragma once

#include "kernels/device/launch.cuh"
#include "kernels/device/occupancy.h"
#include "kernels/laplace/dispatch.h"
#include "kernels/laplace/pointwise/borders.cuh"
#include "kernels/laplace/pointwise/cuda.h"
#include "kernels/laplace/pointwise/cuda_kernel.cuh"
#include "kernels/laplace/pointwise/tables.h"

namespace tensormg::laplace
{
namespace pointwise
{
  /// What the second cache of a GPU holds of two layers of bricks and their metric, by far.
  inline constexpr int cells_of_tile = 32;
  template <typename Brick>
  void order_bricks(PointwiseParameters<Brick> &p)
  {
    for (int d = 0; d < 2; ++d)
    {
      const int tile = std::min(p.bricks[d], std::max(1, cells_of_tile / Brick::cells(d)));
      p.tile[d] = Divisor(unsigned(tile));
      p.tiles[d] = Divisor(unsigned((p.bricks[d] + tile - 1) / tile));
    }
    p.layers = Divisor(unsigned(p.bricks[2]));
  }
  /// Of a cell in shared memory.
  template <typename Brick>
  int shared_numbers(
      const PointwiseDeviceArguments<typename Brick::Number, typename Brick::Stored> &a)
  {
    const bool has_reaction = a.numbers.reaction != nullptr;
    return Brick::cell_numbers(Brick::used_numbers + (has_reaction ? Brick::test_numbers : 0));
  }

  template <typename Brick>
  PointwiseParameters<Brick> parameters(
      const PointwiseDeviceArguments<typename Brick::Number, typename Brick::Stored> &a)
  {
    using C = typename Brick::C;
    constexpr int n = Brick::n;
    PointwiseParameters<Brick> p{};
    const PointMatrices tables(*a.basis, *a.tables);
    for (int at = 0; at < n * n; ++at)
    {
      p.value[at] = static_cast<C>(a.tables->value[std::size_t(at)]);
      p.mode_derivative[at] = static_cast<C>(a.tables->derivative[std::size_t(at)]);
      p.derivative[at] = static_cast<C>(tables.derivative[std::size_t(at)]);
    }
    for (int i = 0; i < n; ++i)
    {
      p.mode_end[i] = static_cast<C>(a.basis->v[i]);
      p.mode_slope[i] = static_cast<C>(2. * a.basis->h[i]);
      p.end[i] = static_cast<C>(tables.end[std::size_t(i)]);
      p.slope[i] = static_cast<C>(tables.slope[std::size_t(i)]);
    }
    p.block = a.block;
    p.per_direction = static_cast<int>(a.per_direction);
    p.cells_y = static_cast<int>(a.block.cells[1]);
    p.pitch = static_cast<int>(a.block.pitch);
    p.layer = p.pitch * p.cells_y;
    const std::int64_t steps[3] = {a.block.pitch, a.block.row(), a.block.plane()};
    for (int d = 0; d < 3; ++d)
    {
      p.next_mode[d] = steps[d];
      p.next_cell[d] = d == 0 ? 1 : steps[d] * (d == 1 ? n : a.block.nz());
    }
    for (std::size_t d = 0; d < 3; ++d)
    {
      const std::int64_t cells = d < Brick::dim ? a.per_direction : 1;
      p.bricks[d] = static_cast<int>(
          (cells + Brick::cells(static_cast<int>(d)) - 1) / Brick::cells(static_cast<int>(d)));
    }
    if (a.per_direction % Brick::cells_x != 0)
      p.bricks[0] = static_cast<int>((a.block.pitch + Brick::cells_x - 1) / Brick::cells_x);
    order_bricks(p);
    p.of_cell = shared_numbers<Brick>(a);
    p.tests_offset = a.numbers.reaction != nullptr ? Brick::used_numbers : 0;
    p.links = a.links;
    p.numbers = a.numbers;
    p.src = a.src;
    p.b = a.b;
    p.old = a.old;
    p.dst = a.dst;
    p.inverse_diagonal = a.inverse_diagonal;
    p.theta = a.theta;
    p.alpha = a.alpha;
    p.borders = a.borders;
    return p;
  }

  template <typename Brick>
  void launch_brick(
      const PointwiseDeviceArguments<typename Brick::Number, typename Brick::Stored> &a)
  {
    const PointwiseParameters<Brick> p = parameters<Brick>(a);
    const std::int64_t cells = a.per_direction, dim = Brick::dim;
    const std::int64_t border_cells =
        a.block.cells[0] / cells * 2 * dim * (dim == 3 ? cells * cells : cells);
    const std::int64_t shared_bytes = Brick::shared_bytes(p.of_cell);
    const auto borders = &border_kernel<Brick>;
    const auto kernel = &operator_kernel<Brick>;
    allow_shared_bytes(reinterpret_cast<const void *>(borders), std::size_t(shared_bytes));
    allow_shared_bytes(reinterpret_cast<const void *>(kernel), std::size_t(shared_bytes));
    launch("launching the traces of blocks of the mesh", borders,
        dim3(unsigned((border_cells + Brick::all_cells - 1) / Brick::all_cells)), Brick::threads,
        std::size_t(shared_bytes), a.stream, p);
    a.borders_are_written();
    const std::int64_t columns =
        cells % Brick::cells_x != 0 ? 1 : (a.block.pitch + cells - 1) / cells;
    const std::int64_t of_column =
        std::int64_t(p.tile[0].by) * p.tile[1].by * p.layers.by * p.tiles[0].by * p.tiles[1].by;
    launch("launching the operator on curved cells", kernel, dim3(unsigned(columns * of_column)),
        Brick::threads, std::size_t(shared_bytes), a.stream, p);
  }
} // namespace pointwise

template <int dim, typename Number, typename Stored>
ApplyPointwiseDevice<Number, Stored> *pointwise_cuda_instance(int degree)
{
  return by_degree<1, max_degree>(degree, [](auto d) -> ApplyPointwiseDevice<Number, Stored> * {
    return &pointwise::launch_brick<PointwiseBrickOf<Number, Stored, dim, d.value>>;
  });
}
} // namespace tensormg::laplace
