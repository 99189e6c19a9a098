// Divides the rows of cells of a block into those that wait for ghosts and those that do not.
#pragma once

#include <array>
#include <vector>

#include "kernels/laplace/laplace.h"

namespace tensormg
{
/// Every row of a block is in exactly one part. The interior does not touch a side that is waited for.
struct RowSplit
{
  laplace::RowRange interior; ///< may be empty
  std::vector<laplace::RowRange> boundary;
};

/// `waits[s]`: the ghosts of side s = 2..5 come later. The boundary is one cell thick: layers in z, then what
/// is left of the sides in y. Each part starts its march anew and for that reads up to two cell layers of its
/// neighbourhood again, so a block too thin for an interior stays whole.
RowSplit split_rows(const Block &block, const std::array<bool, 6> &waits);
} // namespace tensormg
