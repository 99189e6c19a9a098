// A batch as a kernel sees it: cut into boxes of tensors that share their one-dimensional matrices, and
// the boxes into groups of as many tensors as one block or warp works on at a time.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/tensor/batch.h"

namespace tensormg::tensor
{
/// Tensors of a batch that touch the same ends.
struct Box
{
  std::int64_t first = 0;            ///< position of entry 0 of its first tensor
  std::array<unsigned, 3> count{};   ///< tensors per direction
  std::array<std::uint8_t, 3> end{}; ///< End of each direction

  constexpr unsigned n_tensors() const { return count[0] * count[1] * count[2]; }
};
inline constexpr int max_boxes = 27;

struct Placement
{
  std::array<std::int64_t, 3> step{};
  std::array<std::int64_t, 3> stride{};
  std::array<Box, max_boxes> boxes{};
  std::array<unsigned, max_boxes + 1> begin{}; ///< first group of each box; at [n_boxes] all groups
  int n_boxes = 0;
  bool pairs = false; ///< are entries 2 i and 2 i + 1 of every row at an even position?

  constexpr unsigned n_groups() const { return begin[n_boxes]; }

  /// The box of a group.
  constexpr int box_of(unsigned group) const
  {
    int box = 0;
    while (group >= begin[box + 1])
      ++box;
    return box;
  }

  /// Position of entry 0 of tensor number q of a box (x fastest).
  constexpr std::int64_t position(int box, unsigned q) const
  {
    const Box &b = boxes[box];
    const unsigned line = q / b.count[0];
    return b.first + std::int64_t(q % b.count[0]) * step[0] +
        std::int64_t(line % b.count[1]) * step[1] + std::int64_t(line / b.count[1]) * step[2];
  }
};

/// Groups of `group_size` tensors, the last of each box may have fewer. Throws std::invalid_argument for
/// 2^31 tensors and more.
Placement make_placement(const Batch &batch, int group_size);
} // namespace tensormg::tensor
