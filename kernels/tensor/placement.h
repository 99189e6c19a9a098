// A batch as a kernel sees it: cut into boxes of tensors that share their one-dimensional matrices, and
// the boxes into groups of as many tensors as one block or warp works on at a time.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/tensor/batch.h"

namespace tensormg::tensor
{
/// Division of numbers below 2^32 by a constant that is known on the host: two multiplications where the
/// device's division takes some twenty instructions.
/// Source: D. Lemire, O. Kaser, N. Kurz, Faster remainder by direct computation, Softw. Pract. Exper. 49, 2019.
class Divisor
{
public:
  constexpr Divisor() = default;
  constexpr explicit Divisor(unsigned value)
    : value_(value)
    , high_(static_cast<unsigned>((~std::uint64_t(0) / value + 1) >> 32))
    , low_(static_cast<unsigned>(~std::uint64_t(0) / value + 1))
  {}
  constexpr unsigned quotient(unsigned dividend) const
  {
    if (value_ == 1)
      return dividend;
    const std::uint64_t lower = std::uint64_t(low_) * dividend >> 32;
    return static_cast<unsigned>((std::uint64_t(high_) * dividend + lower) >> 32);
  }
  constexpr unsigned value() const { return value_; }

private:
  unsigned value_ = 1;
  unsigned high_ = 0, low_ = 0; ///< 2^64 / value, rounded up
};

/// Tensors of a batch that touch the same ends.
struct Box
{
  std::int64_t first = 0;            ///< position of entry 0 of its first tensor
  std::array<Divisor, 3> count{};    ///< tensors per direction
  std::array<std::uint8_t, 3> end{}; ///< End of each direction

  constexpr unsigned n_tensors() const
  {
    return count[0].value() * count[1].value() * count[2].value();
  }
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

  /// The box of a group that is in box `first` or behind: who goes on to later groups need not search from the start,
  /// which takes a dependent load for every box.
  constexpr int box_of(unsigned group, int first = 0) const
  {
    int box = first;
    while (group >= begin[box + 1])
      ++box;
    return box;
  }

  /// Position of entry 0 of tensor number q of a box (x fastest).
  constexpr std::int64_t position(int box, unsigned q) const
  {
    const Box &b = boxes[box];
    const unsigned line = b.count[0].quotient(q), z = b.count[1].quotient(line);
    const unsigned x = q - line * b.count[0].value(), y = line - z * b.count[1].value();
    return b.first + std::int64_t(x) * step[0] + std::int64_t(y) * step[1] +
        std::int64_t(z) * step[2];
  }
};

/// Groups of `group_size` tensors, the last of each box may have fewer. Throws std::invalid_argument for
/// 2^31 tensors and more.
Placement make_placement(const Batch &batch, int group_size);
} // namespace tensormg::tensor
