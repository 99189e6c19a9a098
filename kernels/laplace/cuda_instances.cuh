// The compiled instances of the `cuda` backend in 3D for one number type and form: low or high degrees.
// (cmake/laplace_instances.cmake).
#pragma once

#include "kernels/laplace/column/launch.cuh"
#include "kernels/laplace/cuda.h"
#include "kernels/laplace/dispatch.h"
#include "kernels/laplace/layers/launch.cuh"
#include "kernels/laplace/rounds/launch.cuh"
#include "kernels/laplace/tiles/sm90.h"

namespace tensormg::laplace
{
template <typename Tile, Form form>
void launch_tile(const Arguments<typename Tile::Number> &a)
{
  if constexpr (Tile::kernel == Kernel::column)
  {
    if constexpr (sizeof(typename Tile::Number) < sizeof(typename Tile::C) && !Tile::adds_ghosts)
      if (a.sides[2] == Side::ghost || a.sides[3] == Side::ghost)
        return launch_column<GhostTile<Tile>, form>(a);
    launch_column<Tile, form>(a);
  }
  else if constexpr (Tile::kernel == Kernel::layers)
    launch_layers<Tile, form>(a);
  else
  {
    static_assert(Tile::kernel == Kernel::rounds);
    launch_rounds<Tile, form>(a);
  }
}

template <typename Number, Form form, int n>
constexpr bool has_narrow_tile()
{
  if constexpr (form == Form::residual)
    return CudaNarrowTile<Number, n>::cells_x < CudaTile<Number, n, form>::cells_x;
  return false;
}

template <typename Number, Form form, int degree>
void launch_3d(const Arguments<Number> &a)
{
  if constexpr (has_narrow_tile<Number, form, degree + 1>())
    if (prefers_narrow_tile(a.block.cells[0]))
      return launch_tile<CudaNarrowTile<Number, degree + 1>, form>(a);
  launch_tile<CudaTile<Number, degree + 1, form>, form>(a);
}

constexpr int lowest(Degrees degrees)
{
  return degrees == Degrees::low ? 1 : highest_low_degree + 1;
}
constexpr int highest(Degrees degrees)
{
  return degrees == Degrees::low ? highest_low_degree : max_degree;
}

template <typename Number, Form form, Degrees degrees>
Apply<Number> *cuda_3d_instance(int degree)
{
  return by_degree<lowest(degrees), highest(degrees)>(
      degree, [](auto d) -> Apply<Number> * { return &launch_3d<Number, form, d.value>; });
}

template <typename Tile, Form form, int cluster = 1>
KernelResources resources_of_kernel(auto *function)
{
  const void *kernel = reinterpret_cast<const void *>(function);
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "asking for the kernel's resources");
  int device = 0, multiprocessors = 0, threads = 0;
  check_cuda(cudaGetDevice(&device), "asking for the device");
  check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
      "asking for the multiprocessors");
  check_cuda(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device),
      "asking for the threads");
  KernelResources result;
  result.registers = attributes.numRegs;
  if (Tile::consumer_registers > attributes.numRegs)
    result.computing_registers = Tile::consumer_registers; // setmaxnreg
  result.shared_bytes = Tile::shared_bytes;
  result.local_bytes = static_cast<int>(attributes.localSizeBytes);
  const int blocks =
      cluster * resident_clusters(kernel, cluster, Tile::threads, Tile::shared_bytes);
  result.occupancy = double(blocks) / multiprocessors * Tile::threads / threads;
  constexpr bool is_input_there =
      form != Form::apply && (Tile::kernel == Kernel::column || Tile::kernel == Kernel::mma_column);
  result.shared_bytes_per_dof =
      Tile::shared_bytes_per_dof + (is_input_there ? 4. * sizeof(typename Tile::Number) : 0.);
  return result;
}
template <typename Tile, Form form>
KernelResources resources_3d()
{
  if constexpr (Tile::kernel == Kernel::column)
    return resources_of_kernel<Tile, form>(&column::column_kernel<Tile, form>);
  else if constexpr (Tile::kernel == Kernel::layers)
    return resources_of_kernel<Tile, form, Tile::cluster>(&layers::layers_kernel<Tile, form>);
  else
    return resources_of_kernel<Tile, form, Tile::cluster>(&rounds::rounds_kernel<Tile, form>);
}

/// Of the tile that launch_3d() takes for blocks with so many cells in x, without ghosts.
template <typename Number, Form form, int degree>
KernelResources resources_of_rows(std::int64_t cells_x)
{
  if constexpr (has_narrow_tile<Number, form, degree + 1>())
    if (prefers_narrow_tile(cells_x))
      return resources_3d<CudaNarrowTile<Number, degree + 1>, form>();
  return resources_3d<CudaTile<Number, degree + 1, form>, form>();
}

template <typename Number, Form form, Degrees degrees>
KernelResources cuda_3d_resources(int degree, std::int64_t cells_x)
{
  return by_degree<lowest(degrees), highest(degrees)>(
      degree, [&](auto d) { return resources_of_rows<Number, form, d.value>(cells_x); });
}
} // namespace tensormg::laplace
