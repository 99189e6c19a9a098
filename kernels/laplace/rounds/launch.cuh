// Launch of the kernel that works on a layer in rounds.
#pragma once

#include "kernels/laplace/march/row_launch.cuh"
#include "kernels/laplace/rounds/cells.cuh"

namespace tensormg::laplace
{
/// Starts dst = B src or its fused forms in a.stream.
template <typename Tile, Form form>
void launch_rounds(const Arguments<typename Tile::Number> &a)
{
  const auto kernel = &rounds::rounds_kernel<Tile, form>;
  const int blocks = Tile::cluster *
      workers_to_start<Tile>(a.block,
          resident_clusters(reinterpret_cast<const void *>(kernel), Tile::cluster, Tile::threads,
              Tile::shared_bytes));
  RowParametersOf<Tile, form> p = row_parameters<Tile, form>(a, blocks);
  const auto box_of_round = [&](int cells) {
    return make_box_map(a.block, a.src, cells, Tile::n, BoxLayout::plain, Tile::planes);
  };
  p.row_beside = box_of_round(Tile::cells_x);
  p.side = box_of_round(Tile::halo_x);
  // Cooperative, since the blocks look at each other's progress.
  launch_cooperative("launching the Laplace kernel of rounds", kernel, blocks, Tile::threads,
      Tile::shared_bytes, a.stream, p);
}
} // namespace tensormg::laplace
