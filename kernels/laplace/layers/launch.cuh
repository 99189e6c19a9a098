// Launch of the layer kernel on CUDA cores.
#pragma once

#include "kernels/laplace/layers/cells.cuh"
#include "kernels/laplace/march/row_launch.cuh"

namespace tensormg::laplace
{
/// Starts dst = B src or its fused forms in a.stream.
template <typename Tile, Form form>
void launch_layers(const Arguments<typename Tile::Number> &a)
{
  const auto kernel = &layers::layers_kernel<Tile, form>;
  const int blocks = Tile::cluster *
      workers_to_start<Tile>(a.block,
          resident_clusters(reinterpret_cast<const void *>(kernel), Tile::cluster, Tile::threads,
              Tile::shared_bytes));
  // Cooperative, since the blocks look at each other's progress.
  launch_cooperative("launching the Laplace kernel of layers", kernel, blocks, Tile::threads,
      Tile::shared_bytes, a.stream, row_parameters<Tile, form>(a, blocks));
}
} // namespace tensormg::laplace
