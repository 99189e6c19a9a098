// The tile of the tensor-core column kernel for each degree: modes, rows of cells, warps per row, planes of the
// rings (src, b and old). docs/kernels.md.
#pragma once

#include "kernels/laplace/mma_column_tile.h"

namespace tensormg::laplace
{
/// `fused`: forms that read b and old.
template <int n, bool fused>
struct MmaTile;

template <>
struct MmaTile<2, false> : MmaColumnTile<2, 12, 1, 8>
{};
template <>
struct MmaTile<3, false> : MmaColumnTile<3, 6, 2, 8>
{};
template <>
struct MmaTile<4, false> : MmaColumnTile<4, 6, 2, 9>
{};
template <>
struct MmaTile<5, false> : MmaColumnTile<5, 2, 4, 9>
{};
template <>
struct MmaTile<6, false> : MmaColumnTile<6, 2, 4, 8>
{};

template <>
struct MmaTile<2, true> : MmaColumnTile<2, 12, 1, 6, 3>
{};
template <>
struct MmaTile<3, true> : MmaColumnTile<3, 6, 2, 6, 3>
{};
template <>
struct MmaTile<4, true> : MmaColumnTile<4, 6, 2, 5, 3>
{};
template <>
struct MmaTile<5, true> : MmaColumnTile<5, 2, 4, 7, 3>
{};
template <>
struct MmaTile<6, true> : MmaColumnTile<6, 2, 4, 7, 1>
{};
} // namespace tensormg::laplace
