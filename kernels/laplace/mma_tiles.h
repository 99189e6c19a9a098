// The tile of the tensor-core column kernel for each degree: modes, cells in x, rows of cells, warps per row, planes of
// the rings (src, b and old), vectors in the second one. docs/kernels.md.
#pragma once

#include "kernels/laplace/mma_column/tile.h"
#include "kernels/laplace/mma_layers/tile.h"

namespace tensormg::laplace
{
/// `fused`: forms that read b and old.
template <int n, bool fused>
struct MmaTile;

template <>
struct MmaTile<2, false> : MmaColumnTile<2, 64, 12, 1, 8>
{};
template <>
struct MmaTile<3, false> : MmaColumnTile<3, 64, 6, 2, 8>
{};
template <>
struct MmaTile<4, false> : MmaColumnTile<4, 64, 6, 2, 8>
{};

template <>
struct MmaTile<2, true> : MmaColumnTile<2, 64, 12, 1, 6, 3>
{};
template <>
struct MmaTile<3, true> : MmaColumnTile<3, 64, 6, 2, 6, 3>
{};
template <>
struct MmaTile<4, true> : MmaColumnTile<4, 64, 6, 2, 6, 2>
{};

/// Of the residual, which reads b alone: room for more planes.
template <int n>
struct MmaResidualTile : MmaTile<n, true>
{};
template <>
struct MmaResidualTile<4> : MmaColumnTile<4, 64, 6, 2, 7, 2, 1>
{};

// Modes, cells in x, rows of cells, lines of a warp, planes of the rings (src, around the tile, b and old or results alone);
// of B u also vectors read (0), terms of weights and traces, blocks of a cluster.
template <>
struct MmaTile<5, false> : MmaLayersTile<5, 32, 6, 5, 11, 4, 2, 0>
{};
template <>
struct MmaTile<6, false> : MmaLayersTile<6, 32, 4, 6, 14, 4, 2, 0>
{};
template <>
struct MmaTile<7, false> : MmaLayersTile<7, 32, 2, 4, 16, 5, 3, 0>
{};
template <>
struct MmaTile<8, false> : MmaLayersTile<8, 32, 2, 4, 16, 5, 2, 0>
{};
template <>
struct MmaTile<9, false> : MmaLayersTile<9, 32, 1, 3, 20, 7, 3, 0, 1, 2>
{};

template <>
struct MmaTile<5, true> : MmaLayersTile<5, 32, 6, 5, 10, 3, 3>
{};
template <>
struct MmaTile<6, true> : MmaLayersTile<6, 32, 4, 6, 12, 3, 3>
{};
template <>
struct MmaTile<7, true> : MmaLayersTile<7, 32, 2, 4, 16, 3, 4>
{};
template <>
struct MmaTile<8, true> : MmaLayersTile<8, 32, 2, 4, 16, 3, 3>
{};
template <>
struct MmaTile<9, true> : MmaLayersTile<9, 32, 1, 3, 18, 5, 3>
{};

/// Rows of 64 cells instead of 32: half as many requests to L2, for the boxes beside the tile and in all.
template <int n, bool fused>
struct MmaWideTile : MmaTile<n, fused>
{};
template <>
struct MmaWideTile<5, false> : MmaLayersTile<5, 64, 3, 5, 13, 6, 3, 0>
{};
template <>
struct MmaWideTile<6, false> : MmaLayersTile<6, 64, 2, 6, 14, 5, 3, 0>
{};
template <>
struct MmaWideTile<7, false> : MmaLayersTile<7, 64, 1, 4, 17, 5, 2, 0>
{};
template <>
struct MmaWideTile<8, false> : MmaLayersTile<8, 64, 1, 4, 18, 5, 2, 0, 1, 2>
{};
template <>
struct MmaWideTile<5, true> : MmaLayersTile<5, 64, 2, 5, 11, 4, 4>
{};
template <>
struct MmaWideTile<6, true> : MmaLayersTile<6, 64, 2, 6, 12, 4, 3>
{};
template <>
struct MmaWideTile<7, true> : MmaLayersTile<7, 64, 1, 4, 15, 4, 3>
{};
template <>
struct MmaWideTile<8, true> : MmaLayersTile<8, 64, 1, 4, 16, 2, 3>
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
