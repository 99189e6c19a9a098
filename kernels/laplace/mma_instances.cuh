// The compiled instances of the `mma` backend for one form: all degrees. Included by mma_3d_half_*.cu only.
#pragma once

#include "kernels/laplace/cuda_instances.cuh"
#include "kernels/laplace/mma.h"
#include "kernels/laplace/mma_column_launch.cuh"
#include "kernels/laplace/mma_tiles.h"

namespace tensormg::laplace
{
template <typename Tile, Form form>
void launch_mma(const Arguments<Half> &a)
{
  require_every_row(a.range, a.block);
  launch_mma_column<Tile, form>(a);
}

template <Form form>
Apply<Half> *mma_3d_half_instance(int degree)
{
  constexpr bool fused = form != Form::apply;
  static constexpr Apply<Half> *instances[] = {&launch_mma<MmaTile<2, fused>, form>,
      &launch_mma<MmaTile<3, fused>, form>, &launch_mma<MmaTile<4, fused>, form>};
  return instances[degree - 1];
}

template <typename Tile, Form form>
KernelResources resources_of_mma()
{
  return resources_of_kernel<Tile, form>(&mma_column::mma_column_kernel<Tile, form>);
}

template <Form form>
KernelResources mma_3d_half_resources(int degree)
{
  constexpr bool fused = form != Form::apply;
  using Function = KernelResources();
  static constexpr Function *instances[] = {&resources_of_mma<MmaTile<2, fused>, form>,
      &resources_of_mma<MmaTile<3, fused>, form>, &resources_of_mma<MmaTile<4, fused>, form>};
  return instances[degree - 1]();
}
} // namespace tensormg::laplace
