// The patches of one colour as a device kernel sees them: boxes of patches that are alike, cut into groups
// (kernels/tensor/placement.h), and where their unknowns lie in a vector in Block's order.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/patch/patch.h"
#include "kernels/patch_inverse/patch_inverse.h"
#include "kernels/tensor/placement.h"

namespace tensormg::patch
{
/// Patch number q of a box (x fastest) has cell s (0 or 1) and mode m of direction d at
///   placement.position(box, q) + sum_d (s_d jump[box][d] + m_d stride_d),
/// stride = {pitch, row, plane} of the block. The upper cell of a patch that wraps around lies before the lower
/// one: such patches are a box of their own. So are those whose neighbours lie at the other end of the block.
///
/// Patches of a colour lie side by side: along d, they cover `covered[d]` cells from first_cell[d] on, around the
/// end if the direction is periodic.
struct Patches
{
  tensor::Placement placement;
  std::array<std::array<std::int64_t, 3>, tensor::max_boxes> jump{};
  /// From the lower cell to the neighbour below, and to the one above the patch, by direction; 0 if there is none.
  std::array<std::array<std::array<std::int64_t, 2>, 3>, tensor::max_boxes> neighbour{};
  std::array<std::int64_t, 3> first_cell{0, 0, 0}, covered{1, 1, 1};
  std::array<int, 3> cells{2, 2, 1}; ///< of a patch, per direction: 1 or 2; in 2D 1 in z

  constexpr std::int64_t position(
      int box, unsigned q, const std::array<int, 3> &cell, const std::array<int, 3> &mode) const
  {
    std::int64_t at = placement.position(box, q);
    for (int d = 0; d < 3; ++d)
      at += cell[d] * jump[box][d] + mode[d] * placement.stride[d];
    return at;
  }
};

/// The patches of a colour in groups of `group_size`. The block has all cells of the grid (one rank). Throws
/// std::invalid_argument if a patch reaches beyond the block, and for 2^31 patches and more.
Patches make_patches(const Block &block, const std::array<const Line *, 3> &lines,
    const std::array<int, 3> &colour, int group_size);

/// Eigenvectors and c_d m by direction and touched ends, of size 2 n: a direction with one cell per patch has
/// zeros for the cell that is not there.
patch_inverse::Factors make_factors(
    const std::array<const Line *, 3> &lines, const std::array<double, 3> &factor, int dim);
} // namespace tensormg::patch
