// Rows with as much padding as wide blocks have in 2D, for narrow ones.
#pragma once

#include "kernels/core/block.h"

namespace tensormg::test
{
/// Padded to a multiple of 64 cells: tiles and strips of kernels may have padding alone.
inline Block with_wide_rows(Block block)
{
  block.pitch = (block.cells[0] + 63) / 64 * 64;
  return block;
}
} // namespace tensormg::test
