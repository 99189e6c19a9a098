// The tile of the 3D kernel for each degree and number type, and by its type which kernel that is.
// (docs/kernels.md). Arguments of ColumnTile: modes, cells per lane, rows of cells, planes of the rings (src, b
// and old), traces parked in shared memory, vectors in the second ring, slots of results on their way (0: written by the
// lanes). Arguments of LayersTile: modes, rows of cells, groups of warps,
// planes of the ring (halo), halves of warps split the modes of a row, cells per lane, blocks of a cluster (by mail),
// planes that are written at a time, and waited for, layers between blocks, planes of the tile. Arguments of RoundsTile: modes, warps, planes of
// a round, rounds of the rings (own, halo), whether the lines in x of a warp have the same faces in y.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/laplace/column/tile.h"
#include "kernels/laplace/layers/tile.h"
#include "kernels/laplace/rounds/tile.h"

namespace tensormg::laplace
{
/// `fused`: forms that read b and old, where these pass shared memory: low degrees.
template <typename Number, int n, bool fused>
struct CudaTile;
template <typename Number>
constexpr int most_fused_modes = sizeof(Number) == 8 ? 3 : 4;

template <>
struct CudaTile<double, 2, false> : ColumnTile<double, 2, 2, 12, 6>
{};
template <>
struct CudaTile<double, 3, false> : ColumnTile<double, 3, 1, 8, 8>
{};
template <>
struct CudaTile<double, 4, false> : LayersTile<double, 4, 4, 4, 4, false, 2, 1, 1, 1>
{};
template <>
struct CudaTile<double, 5, false> : LayersTile<double, 5, 4, 5, 5, false, 1, 1, 1, 1>
{};
template <>
struct CudaTile<double, 6, false> : InBoxes<LayersTile<double, 6, 2, 6, 6, true, 1, 1, 6, 2>>
{};
template <>
struct CudaTile<double, 7, false> : LayersTile<double, 7, 1, 7, 7, true, 1, 1, 4, 4, 1, 18>
{};
template <>
struct CudaTile<double, 8, false> : LayersTile<double, 8, 1, 8, 8, true, 1, 2, 8, 4>
{};
template <>
struct CudaTile<double, 9, false> : RoundsTile<double, 9, 14, 3, 4, 2, true>
{};

template <>
struct CudaTile<double, 2, true> : ColumnTile<double, 2, 2, 8, 5, 3>
{};
template <>
struct CudaTile<double, 3, true> : ColumnTile<double, 3, 1, 8, 5, 2>
{};

template <>
struct CudaTile<float, 2, false> : ColumnTile<float, 2, 4, 12, 6>
{};
template <>
struct CudaTile<float, 3, false> : ColumnTile<float, 3, 2, 8, 6, 0, false, 2, 2>
{};
template <>
struct CudaTile<float, 4, false> : LayersTile<float, 4, 4, 4, 4, false, 4, 1, 1, 1>
{};
template <>
struct CudaTile<float, 5, false> : LayersTile<float, 5, 4, 5, 5, false, 2, 1, 1, 1>
{};
template <>
struct CudaTile<float, 6, false> : InBoxes<LayersTile<float, 6, 2, 6, 6, true, 2, 1, 6, 2>>
{};
template <>
struct CudaTile<float, 7, false> : InBoxes<LayersTile<float, 7, 1, 7, 7, true, 2, 1, 7, 3, 2>>
{};
template <>
struct CudaTile<float, 8, false> : LayersTile<float, 8, 1, 8, 8, true, 2, 2, 8, 4>
{};
template <>
struct CudaTile<float, 9, false> : RoundsTile<float, 9, 14, 3, 4, 2, false>
{};

template <>
struct CudaTile<float, 2, true> : ColumnTile<float, 2, 4, 8, 5, 3>
{};
template <>
struct CudaTile<float, 3, true> : ColumnTile<float, 3, 2, 8, 5, 2>
{};
template <>
struct CudaTile<float, 4, true> : ColumnTile<float, 4, 1, 8, 5, 2, false, 2, 1>
{};

template <>
struct CudaTile<WideFloat, 2, false> : ColumnTile<WideFloat, 2, 4, 8, 6>
{};
template <>
struct CudaTile<WideFloat, 3, false> : ColumnTile<WideFloat, 3, 1, 12, 10>
{};
template <>
struct CudaTile<WideFloat, 4, false> : ColumnTile<WideFloat, 4, 1, 8, 6, 0, true>
{};
template <>
struct CudaTile<WideFloat, 5, false> : LayersTile<WideFloat, 5, 4, 5, 5>
{};
template <>
struct CudaTile<WideFloat, 6, false> : InBoxes<LayersTile<WideFloat, 6, 2, 6, 6, true, 1, 1, 2, 2>>
{};
template <>
struct CudaTile<WideFloat, 7, false> : LayersTile<WideFloat, 7, 2, 7, 5, true>
{};
template <>
struct CudaTile<WideFloat, 8, false> : LayersTile<WideFloat, 8, 1, 8, 8, true>
{};
template <>
struct CudaTile<WideFloat, 9, false> : LayersTile<WideFloat, 9, 1, 9, 3, true, 1, 1, 9, 3>
{};

template <>
struct CudaTile<Half, 2, false> : ColumnTile<Half, 2, 4, 16, 8, 0, false, 2, 2>
{};
template <>
struct CudaTile<Half, 3, false> : ColumnTile<Half, 3, 2, 12, 9, 0, false, 2, 2>
{};
template <>
struct CudaTile<Half, 4, false> : ColumnTile<Half, 4, 2, 8, 5, 0, true, 2, 2>
{};
template <>
struct CudaTile<Half, 5, false> : LayersTile<Half, 5, 4, 5, 5>
{};
template <>
struct CudaTile<Half, 6, false> : LayersTile<Half, 6, 2, 6, 6, true>
{};
template <>
struct CudaTile<Half, 7, false> : LayersTile<Half, 7, 2, 7, 5, true>
{};
template <>
struct CudaTile<Half, 8, false> : LayersTile<Half, 8, 1, 8, 8, true>
{};
template <>
struct CudaTile<Half, 9, false> : LayersTile<Half, 9, 1, 9, 3, true, 2, 1, 9, 3>
{};

template <>
struct CudaTile<Half, 2, true> : ColumnTile<Half, 2, 4, 12, 7, 3>
{};
template <>
struct CudaTile<Half, 3, true> : ColumnTile<Half, 3, 2, 12, 6, 3, false, 2, 2>
{};
template <>
struct CudaTile<Half, 4, true> : ColumnTile<Half, 4, 2, 8, 5, 1, true>
{};

/// Of the residual, which reads b alone: room for more planes. The layer kernels have none of it in shared memory, their tiles are
/// those of B u.
template <typename Number, int n>
struct CudaResidualTile : CudaTile<Number, n, (n <= most_fused_modes<Number>)>
{};
template <>
struct CudaResidualTile<Half, 2> : ColumnTile<Half, 2, 4, 12, 8, 4, false, 1, 2>
{};
template <>
struct CudaResidualTile<Half, 3> : ColumnTile<Half, 3, 2, 12, 6, 5, false, 1, 2>
{};
template <>
struct CudaResidualTile<Half, 4> : ColumnTile<Half, 4, 2, 8, 5, 2, true, 1>
{};
/// In boxes they lose, as do Chebyshev steps.
template <>
struct CudaResidualTile<double, 6> : LayersTile<double, 6, 2, 6, 6, true, 1, 1, 6, 2>
{};
template <>
struct CudaResidualTile<float, 6> : LayersTile<float, 6, 2, 6, 6, true, 2, 1, 6, 2>
{};
/// The step, which reads old as well, stays with the column kernel.
template <>
struct CudaResidualTile<float, 4> : CudaTile<float, 4, false>
{};
/// More planes than two layers, and writing them in steps, gain nothing here: lanes read b at once.
template <>
struct CudaResidualTile<double, 7> : LayersTile<double, 7, 1, 7, 7, true>
{};
template <>
struct CudaResidualTile<float, 7> : LayersTile<float, 7, 1, 7, 7, true, 2>
{};
/// With b two rows of cells, or two cells per lane, leave too few registers.
template <>
struct CudaResidualTile<Half, 7> : LayersTile<Half, 7, 1, 7, 7, true>
{};
template <>
struct CudaResidualTile<Half, 9> : LayersTile<Half, 9, 1, 9, 3, true, 1, 1, 9, 3>
{};

/// Of the Chebyshev step, where a lane holds numbers of b and old in registers: with fewer lines in z per warp than for B u.
template <typename Number, int n>
struct CudaChebyshevTile : std::conditional_t<n <= most_fused_modes<Number>,
                               CudaTile<Number, n, true>, CudaResidualTile<Number, n>>
{};
template <>
struct CudaChebyshevTile<double, 4> : LayersTile<double, 4, 4, 4, 4>
{};
template <>
struct CudaChebyshevTile<double, 5> : LayersTile<double, 5, 2, 5, 5>
{};
template <>
struct CudaChebyshevTile<Half, 8> : LayersTile<Half, 8, 1, 8, 6, true, 2>
{};

/// Rows of 32 cells instead of 64, for those that 64 does not divide.
template <typename Number, int n, bool residual>
struct CudaNarrowTile
  : std::conditional_t<residual, CudaResidualTile<Number, n>, CudaTile<Number, n, false>>
{};
template <bool residual>
struct CudaNarrowTile<float, 4, residual> : LayersTile<float, 4, 8, 2, 4, false, 2, 1, 1, 1>
{};
template <>
struct CudaNarrowTile<Half, 4, false> : ColumnTile<Half, 4, 1, 12, 9, 0, false, 2, 2>
{};
template <>
struct CudaNarrowTile<Half, 4, true> : ColumnTile<Half, 4, 1, 12, 6, 2, true, 1, 2>
{};

/// They are slower by a tenth, but cover rows with fewer cells in all.
constexpr bool prefers_narrow_tile(std::int64_t cells_x)
{
  const auto covered = [&](std::int64_t width) { return (cells_x + width - 1) / width * width; };
  return 100 * covered(64) > 110 * covered(32);
}
} // namespace tensormg::laplace
