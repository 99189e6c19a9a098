// The compiled instances of the `mma` backend in 3D for one form and arithmetic: all degrees (cmake/laplace_instances.cmake).
#pragma once

#include "kernels/laplace/cuda_instances.cuh"
#include "kernels/laplace/mma.h"
#include "kernels/laplace/mma_column/launch.cuh"
#include "kernels/laplace/mma_layers/launch.cuh"

namespace tensormg::laplace
{
template <typename Tile, Form form>
void launch_mma(const Arguments<Half> &a)
{
  if constexpr (Tile::kernel == Kernel::mma_column)
    launch_mma_column<Tile, form>(a);
  else
    launch_mma_layers<Tile, form>(a);
}

template <int n, Form form, Arithmetic arithmetic>
using MmaTileOf =
    std::conditional_t<arithmetic == Arithmetic::fp16x2, MmaAccurateTile<n>, MmaTile<n, form>>;

/// Rows of 64 cells; nobody launches B u but to compare it.
template <int n, Form form, Arithmetic arithmetic>
inline constexpr bool has_wide_tile = form != Form::apply &&arithmetic == Arithmetic::fp16 &&
    (MmaWideTile<n>::cells_x > MmaTile<n, form>::cells_x);

template <int n, Form form, Arithmetic arithmetic>
void launch_mma_of_modes(const Arguments<Half> &a)
{
  if constexpr (has_wide_tile<n, form, arithmetic>)
    if (prefers_wide_tile(a.block.cells[0]))
      return launch_mma<MmaWideTile<n>, form>(a);
  launch_mma<MmaTileOf<n, form, arithmetic>, form>(a);
}

template <typename Tile, Form form>
KernelResources resources_of_mma()
{
  if constexpr (Tile::kernel == Kernel::mma_column)
    return resources_of_kernel<Tile, form>(&mma_column::mma_column_kernel<Tile, form>);
  else
    return resources_of_kernel<Tile, form>(&mma_layers::mma_layers_kernel<Tile, form>);
}

/// Of the tile that launch_mma_of_modes() takes for blocks with so many cells in x.
template <int n, Form form, Arithmetic arithmetic>
KernelResources mma_resources_of_rows(std::int64_t cells_x)
{
  if constexpr (has_wide_tile<n, form, arithmetic>)
    if (prefers_wide_tile(cells_x))
      return resources_of_mma<MmaWideTile<n>, form>();
  return resources_of_mma<MmaTileOf<n, form, arithmetic>, form>();
}

template <Form form, Arithmetic arithmetic>
Apply<Half> *mma_3d_instance(int degree)
{
  return by_degree<mma_lowest_degree(form, arithmetic), max_degree>(degree,
      [](auto d) -> Apply<Half> * { return &launch_mma_of_modes<d.value + 1, form, arithmetic>; });
}

template <Form form, Arithmetic arithmetic>
KernelResources mma_3d_resources(int degree, std::int64_t cells_x)
{
  return by_degree<mma_lowest_degree(form, arithmetic), max_degree>(degree,
      [&](auto d) { return mma_resources_of_rows<d.value + 1, form, arithmetic>(cells_x); });
}
} // namespace tensormg::laplace
