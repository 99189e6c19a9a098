// One step of a 3D stencil of radius 1 on tiles that march along z.
#include <stdexcept>
#include <string>

#include "kernels/diagnostics/stencil/planes_launch.cuh"

namespace tensormg::stencil
{
namespace
{
  template <typename Unit, typename Number>
  void launch_step(const Stencil &stencil, const Grid &grid, Unit unit, const Number *from,
      Number *to, Stream stream)
  {
    const OneStep<Number> step(stencil);
    if (grid.size() == 0)
      return;
    if (step.box)
      launch_planes<1, true>(step.weights, grid, unit, from, to, stream);
    else
      launch_planes<1, false>(step.weights, grid, unit, from, to, stream);
  }
} // namespace

void cuda_planes(const Stencil &stencil, const Grid &grid, TileUnit unit, const double *from,
    double *to, Stream stream)
{
  launch_step(stencil, grid, unit, from, to, stream);
}

void cuda_planes(const Stencil &stencil, const Grid &grid, SingleTileUnit unit, const float *from,
    float *to, Stream stream)
{
  launch_step(stencil, grid, unit, from, to, stream);
}
} // namespace tensormg::stencil
