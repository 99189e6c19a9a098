// The tiles of the `mma` backend in 3D, FP16 storage (docs/kernels.md). Arguments of MmaColumnTile: cells in x, rows of
// cells, warps per row, planes of the rings (src, b and old), vectors in the second one. Of MmaLayersTile: modes, cells in x,
// rows of cells, lines of a warp, planes of the rings (src, around the tile, b and old or results), vectors read, terms of
// weights and traces.
#pragma once

#include "kernels/laplace/mma_column/tile.h"
#include "kernels/laplace/mma_layers/tile.h"

namespace tensormg::laplace
{
/// Of the Chebyshev step; from five modes on also of B u and of b - B u.
template <int n>
struct MmaTile;
template <>
struct MmaTile<4> : MmaColumnTile<64, 6, 2, 6, 2, 2>
{};
template <>
struct MmaTile<5> : MmaLayersTile<5, 32, 6, 5, 10, 3, 3>
{};
template <>
struct MmaTile<6> : MmaLayersTile<6, 32, 4, 6, 12, 3, 3>
{};
template <>
struct MmaTile<7> : MmaLayersTile<7, 32, 2, 4, 16, 3, 4>
{};
template <>
struct MmaTile<8> : MmaLayersTile<8, 32, 2, 4, 16, 3, 3>
{};
template <>
struct MmaTile<9> : MmaLayersTile<9, 32, 1, 3, 18, 5, 3>
{};

/// Of the residual, which reads b alone: room for more planes.
template <int n>
struct MmaResidualTile : MmaTile<n>
{};
template <>
struct MmaResidualTile<4> : MmaColumnTile<64, 6, 2, 7, 2, 1>
{};

/// Rows of 64 cells instead of 32: half as many requests to L2, for the boxes beside the tile and in all.
template <int n>
struct MmaWideTile : MmaTile<n>
{};
template <>
struct MmaWideTile<5> : MmaLayersTile<5, 64, 2, 5, 11, 4, 4>
{};
template <>
struct MmaWideTile<6> : MmaLayersTile<6, 64, 2, 6, 12, 4, 3>
{};
template <>
struct MmaWideTile<7> : MmaLayersTile<7, 64, 1, 4, 15, 4, 3>
{};
template <>
struct MmaWideTile<8> : MmaLayersTile<8, 64, 1, 4, 16, 2, 3>
{};

/// They are faster by a tenth, and by more where rows begin in the middle of a sector of L2: taken where they do not
/// cover more than that in additional cells.
constexpr bool prefers_wide_tile(std::int64_t cells_x)
{
  const auto covered = [&](std::int64_t width) { return (cells_x + width - 1) / width * width; };
  const bool begin_in_sectors = (cells_x + row_granularity - 1) / row_granularity % 2 != 0;
  return 100 * covered(64) <= (begin_in_sectors ? 125 : 110) * covered(32);
}

/// Weights and traces in two parts, for the residual.
template <int n>
struct MmaAccurateTile;

template <>
struct MmaAccurateTile<6> : MmaLayersTile<6, 32, 4, 6, 12, 3, 3, 1, 2>
{};
template <>
struct MmaAccurateTile<7> : MmaLayersTile<7, 32, 2, 4, 16, 3, 4, 1, 2>
{};
template <>
struct MmaAccurateTile<8> : MmaLayersTile<8, 32, 2, 4, 16, 3, 3, 1, 2>
{};
template <>
struct MmaAccurateTile<9> : MmaLayersTile<9, 32, 1, 3, 18, 4, 3, 1, 2>
{};
} // namespace tensormg::laplace
