// What the transfer kernels of the `cuda` backend are told.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/basis/cell_basis.h"
#include "kernels/core/block.h"

namespace tensormg::transfer
{
template <typename Tile>
struct TransferParameters
{
  using Number = typename Tile::Number;
  using C = typename Tile::C;

  C weight[Tile::n][Tile::n]; ///< [mode of the lower child][mode of the parent]
  C factor;
  bool add;      ///< prolongation
  bool add_rest; ///< prolongation
  int fine_pitch, coarse_pitch;
  int cells_x, cells_y; ///< of the coarse block
  std::int64_t fine_plane, coarse_plane;
  const Number *src, *src_rest; ///< src_rest and dst_rest may be null
  Number *dst, *dst_rest;

  __device__ std::int64_t fine_row() const { return std::int64_t(Tile::n) * fine_pitch; }
  __device__ std::int64_t coarse_row() const { return std::int64_t(Tile::n) * coarse_pitch; }
};

template <typename Tile>
TransferParameters<Tile> transfer_parameters(
    const Block &fine, const Block &coarse, const CellBasis &basis, double factor)
{
  TransferParameters<Tile> p{};
  for (int a = 0; a < Tile::n; ++a)
    for (int i = 0; i < Tile::n; ++i)
      p.weight[a][i] = static_cast<typename Tile::C>(basis.prolongation[a * Tile::n + i]);
  p.factor = static_cast<typename Tile::C>(factor);
  p.fine_pitch = static_cast<int>(fine.pitch);
  p.coarse_pitch = static_cast<int>(coarse.pitch);
  p.cells_x = static_cast<int>(coarse.cells[0]);
  p.cells_y = static_cast<int>(coarse.cells[1]);
  p.fine_plane = fine.plane();
  p.coarse_plane = coarse.plane();
  return p;
}
} // namespace tensormg::transfer
