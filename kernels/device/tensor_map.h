// Descriptors of boxes of a vector, for the copy engine of Hopper and later (TMA).
#pragma once

#include <cuda.h>

#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/core/wide_float.h"

namespace tensormg
{
/// How a box lies in shared memory.
enum class BoxLayout : unsigned char
{
  plain, ///< in the order of the tensor
  // The 16-byte pieces of a row are permuted:
  swizzled_64, ///< rows of 64 bytes: piece c of row r lies at c xor r / 2 % 4
  swizzled_128 ///< rows of 128 bytes: piece c of row r lies at c xor r % 8
};

/// Boxes of `cells` cells x n modes x `rows` rows x `planes` planes of a vector in Block's order, as a tensor
/// of dimensions (cells[0], n, rows of a plane, planes), fastest first: coordinates (cx, i, cy*n + j,
/// cz*n + k). Outside of the block, padding included, a box is filled with zeros. `data` is aligned to
/// 16 bytes, the place in shared memory to 128; what is permuted is its address, with a period of 8 rows of the box.
/// Throws DeviceError if the driver refuses.
template <typename Number>
CUtensorMap make_box_map(const Block &block, const Number *data, int cells, int rows,
    BoxLayout layout = BoxLayout::plain, int planes = 1);
} // namespace tensormg
