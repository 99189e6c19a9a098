// The compiled instances of the `mma` backend for one form: all degrees. Included by mma_3d_half_*.cu only.
#pragma once

#include "kernels/laplace/cuda_instances.cuh"
#include "kernels/laplace/mma.h"
#include "kernels/laplace/mma_column/launch.cuh"
#include "kernels/laplace/mma_layers/launch.cuh"
#include "kernels/laplace/mma_tiles.h"

namespace tensormg::laplace
{
template <typename Tile, Form form>
void launch_mma(const Arguments<Half> &a)
{
  require_every_row(a.range, a.block);
  if constexpr (Tile::owns_columns)
    launch_mma_column<Tile, form>(a);
  else
    launch_mma_layers<Tile, form>(a);
}

template <int n, Form form>
using MmaTileOf =
    std::conditional_t<form == Form::residual, MmaResidualTile<n>, MmaTile<n, form != Form::apply>>;

template <int n, Form form>
void launch_mma_of_modes(const Arguments<Half> &a)
{
  using Tile = MmaTileOf<n, form>;
  using Wide = MmaWideTile<n, form != Form::apply>;
  if constexpr (Wide::cells_x > Tile::cells_x)
    if (prefers_wide_tile(a.block.cells[0]))
      return launch_mma<Wide, form>(a);
  launch_mma<Tile, form>(a);
}

template <Form form, int... n>
Apply<Half> *mma_of_degree(int degree, std::integer_sequence<int, n...>)
{
  static constexpr Apply<Half> *instances[] = {&launch_mma_of_modes<n + 2, form>...};
  return instances[degree - 1];
}

template <Form form>
Apply<Half> *mma_3d_half_instance(int degree)
{
  return mma_of_degree<form>(degree, std::make_integer_sequence<int, mma_max_degree<Half>(3)>());
}

template <typename Tile, Form form>
KernelResources resources_of_mma(std::int64_t cells_x)
{
  if constexpr (Tile::owns_columns)
    return resources_of_kernel<Tile, form>(&mma_column::mma_column_kernel<Tile, form>);
  else
    return resources_of_kernel<Tile, form, Tile::cluster>(
        mma_layers_kernel_of<Tile, form>(mma_layers_rescales<form>(cells_x, 1.f)));
}

/// Of the tile that launch_mma_of_modes() takes for blocks with so many cells in x.
template <int n, Form form>
KernelResources mma_resources_of_rows(std::int64_t cells_x)
{
  using Tile = MmaTileOf<n, form>;
  using Wide = MmaWideTile<n, form != Form::apply>;
  if constexpr (Wide::cells_x > Tile::cells_x)
    if (prefers_wide_tile(cells_x))
      return resources_of_mma<Wide, form>(cells_x);
  return resources_of_mma<Tile, form>(cells_x);
}

template <Form form, int... n>
KernelResources mma_resources_of_degree(
    int degree, std::int64_t cells_x, std::integer_sequence<int, n...>)
{
  using Function = KernelResources(std::int64_t);
  static constexpr Function *instances[] = {&mma_resources_of_rows<n + 2, form>...};
  return instances[degree - 1](cells_x);
}

template <Form form>
KernelResources mma_3d_half_resources(int degree, std::int64_t cells_x)
{
  return mma_resources_of_degree<form>(
      degree, cells_x, std::make_integer_sequence<int, mma_max_degree<Half>(3)>());
}
} // namespace tensormg::laplace
