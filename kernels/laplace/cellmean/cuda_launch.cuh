// Launch of the device kernels of cellmean.h, for the files cuda_*.cu with one number type each.
#pragma once

#include "kernels/device/launch.cuh"
#include "kernels/device/occupancy.h"
#include "kernels/laplace/cellmean/borders.cuh"
#include "kernels/laplace/cellmean/cuda.h"
#include "kernels/laplace/cellmean/cuda_kernel.cuh"
#include "kernels/laplace/dispatch.h"

namespace tensormg::laplace
{
namespace cellmean
{
  template <typename Brick>
  CellMeanParameters<Brick> parameters(const CellMeanArguments<typename Brick::Number> &a)
  {
    using C = typename Brick::C;
    constexpr int n = Brick::n;
    CellMeanParameters<Brick> p{};
    const auto derivative = derivative_of_modes(*a.basis);
    for (int i = 0; i < n; ++i)
    {
      double lifted = 2. * a.basis->h[i];
      for (int j = 0; j < n; ++j)
      {
        p.derivative[i * n + j] = static_cast<C>(derivative[i * n + j]);
        if ((i + j) % 2 == 1)
          lifted -= derivative[j * n + i] * a.basis->v[j];
      }
      p.value[i] = static_cast<C>(a.basis->v[i]);
      p.slope[i] = static_cast<C>(2. * a.basis->h[i]);
      p.lifted_slope[i] = static_cast<C>(lifted);
    }
    p.a = a;
    const auto bricks = [](std::int64_t cells, int of_brick) {
      return static_cast<int>((cells + of_brick - 1) / of_brick);
    };
    for (int d = 0; d < 3; ++d)
      p.bricks[d] = bricks(d < Brick::dim ? a.per_direction : 1, Brick::cells(d));
    if (a.per_direction % Brick::cells_x != 0)
      p.bricks[0] = bricks(a.block.pitch, Brick::cells_x);
    return p;
  }

  template <typename Brick>
  void launch_brick(const CellMeanArguments<typename Brick::Number> &a, Stream stream)
  {
    const CellMeanParameters<Brick> p = parameters<Brick>(a);
    const std::int64_t cells = a.per_direction,
                       of_brick = std::int64_t{Brick::cells_x} * Brick::rows,
                       at_borders = a.block.cells[0] / cells * Brick::sides *
        cells_of_side(Brick::dim, cells);
    constexpr int border_bytes = Brick::halo_numbers(1) * int{sizeof(typename Brick::C)};
    static_assert(border_bytes <= 48 * 1024, "needs no permission");
    launch("launching the traces of blocks of the mesh", &border_kernel<Brick>,
        dim3(unsigned((at_borders + of_brick - 1) / of_brick)), Brick::threads, border_bytes,
        stream, p);
    a.traces_are_written();
    const auto kernel = &operator_kernel<Brick>;
    // Once per kernel and device: more shared memory than a kernel has without asking.
    resident_blocks(reinterpret_cast<const void *>(kernel), Brick::threads, Brick::shared_bytes);
    const std::int64_t columns =
        cells % Brick::cells_x != 0 ? 1 : (a.block.pitch + cells - 1) / cells;
    launch("launching the operator with one metric per cell", kernel,
        dim3(unsigned(columns * p.bricks[0] * p.bricks[1] * p.bricks[2])), Brick::threads,
        Brick::shared_bytes, stream, p);
  }
} // namespace cellmean

template <typename Number>
ApplyCellMeanDevice<Number> *cell_mean_cuda(int dim, int degree)
{
  return by_degree<1, max_degree>(degree, [&](auto d) -> ApplyCellMeanDevice<Number> * {
    return dim == 2 ? &cellmean::launch_brick<CellMeanBrickOf<Number, 2, d.value>>
                    : &cellmean::launch_brick<CellMeanBrickOf<Number, 3, d.value>>;
  });
}
} // namespace tensormg::laplace
