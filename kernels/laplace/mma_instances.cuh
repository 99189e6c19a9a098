// The compiled instances of the `mma` backend for one form: all degrees. Included by mma_3d_half_*.cu only.
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
  require_every_row(a.range, a.block);
  if constexpr (Tile::kernel == Kernel::mma_column)
    launch_mma_column<Tile, form>(a);
  else
    launch_mma_layers<Tile, form>(a);
}

/// Rows of 64 cells; nobody launches B u but to compare it.
template <int n, Form form>
inline constexpr bool has_wide_tile = form != Form::apply &&
    (MmaWideTile<n>::cells_x > MmaTile<n, form>::cells_x);

template <int n, Form form>
void launch_mma_of_modes(const Arguments<Half> &a)
{
  if constexpr (has_wide_tile<n, form>)
    if (prefers_wide_tile(a.block.cells[0]))
      return launch_mma<MmaWideTile<n>, form>(a);
  launch_mma<MmaTile<n, form>, form>(a);
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
template <int n, Form form>
KernelResources mma_resources_of_rows(std::int64_t cells_x)
{
  if constexpr (has_wide_tile<n, form>)
    if (prefers_wide_tile(cells_x))
      return resources_of_mma<MmaWideTile<n>, form>();
  return resources_of_mma<MmaTile<n, form>, form>();
}

template <Form form>
inline constexpr int mma_lowest_degree =
    form == Form::apply ? mma_layers_min_degree : mma_column_degree;
template <Form form>
using MmaDegrees = std::make_integer_sequence<int, max_degree - mma_lowest_degree<form> + 1>;

template <Form form, int... i>
Apply<Half> *mma_of_index(int index, std::integer_sequence<int, i...>)
{
  static constexpr Apply<Half> *instances[] = {
      &launch_mma_of_modes<mma_lowest_degree<form> + 1 + i, form>...};
  return instances[index];
}
template <Form form>
Apply<Half> *mma_3d_half_instance(int degree)
{
  return mma_of_index<form>(degree - mma_lowest_degree<form>, MmaDegrees<form>());
}

template <Form form, int... i>
KernelResources mma_resources_of_index(
    int index, std::int64_t cells_x, std::integer_sequence<int, i...>)
{
  using Function = KernelResources(std::int64_t);
  static constexpr Function *instances[] = {
      &mma_resources_of_rows<mma_lowest_degree<form> + 1 + i, form>...};
  return instances[index](cells_x);
}
template <Form form>
KernelResources mma_3d_half_resources(int degree, std::int64_t cells_x)
{
  return mma_resources_of_index<form>(
      degree - mma_lowest_degree<form>, cells_x, MmaDegrees<form>());
}
} // namespace tensormg::laplace
