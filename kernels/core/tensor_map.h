// Descriptors of boxes of a vector, for the copy engine of Hopper and later (TMA).
#pragma once

#include <cuda.h>

#include "kernels/core/block.h"
#include "kernels/core/half.h"

namespace tensormg
{
/// Boxes of `cells` cells x n modes x `rows` rows x 1 plane of a vector in Block's order, as a tensor
/// of dimensions (cells[0], n, rows of a plane, planes), fastest first: coordinates (cx, i, cy*n + j,
/// cz*n + k). Outside of the block, padding included, a box is filled with zeros. `data` is aligned to
/// 16 bytes. Throws DeviceError if the driver refuses.
template <typename Number>
CUtensorMap make_box_map(const Block &block, const Number *data, int cells, int rows);
} // namespace tensormg
