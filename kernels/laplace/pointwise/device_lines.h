// The lines of CellLines in device memory: groups of 32 lines, neighbours side by side, for the lanes of a warp.
#pragma once

#include <cstdint>

#include "kernels/device/device.h"
#include "kernels/laplace/pointwise/relaxation.h"

namespace tensormg::laplace
{
/// A LinePlace in 16 bytes.
struct alignas(16) PackedPlace
{
  std::uint32_t x = 0;          ///< of the cell in its row
  std::uint32_t vector_row = 0; ///< that of the first mode: LinePlace::entry = vector_row pitch + x
  std::uint32_t cell_row = 0;   ///< as in relaxation_index()
  std::uint32_t turn = 0;       ///< axes, two bits each, whether they are reversed, of_no_line

  PackedPlace() = default;
  PackedPlace(const Block &block, const LinePlace &place);
  static constexpr std::uint32_t of_no_line = 1u << 9;
  /// Otherwise that of some cell, which may be read: beyond the end of a line its last one.
  constexpr bool is_of_line() const { return (turn & of_no_line) == 0; }
  constexpr int axis(int a) const { return static_cast<int>(turn >> (2 * a) & 3u); }
  constexpr bool is_reversed(int a) const { return (turn >> (6 + a) & 1u) != 0; }
};
struct PackedLine
{
  std::int32_t length = 0;
  Side ends[2] = {Side::ghost, Side::ghost};
};
struct LineGroup
{
  std::int64_t first = 0;  ///< cells of lines before, in places [cell][lane]
  std::int64_t chunks = 0; ///< of the groups before
  std::int64_t length = 0; ///< of the longest line
};

inline constexpr int line_lanes = 32;
/// Cells of a line between which elimination leaves numbers_of_elimination numbers for each pair of modes across.
inline constexpr int line_chunk = 4;
inline constexpr int numbers_of_elimination = 6;

/// The longest lines come first: short ones fill the end of a launch.
class DeviceCellLines
{
public:
  struct View
  {
    const LineGroup *groups;
    const PackedLine *lines;   ///< [group][lane]
    const PackedPlace *places; ///< [cell][lane] of each group
    std::int64_t n_groups;
  };

  DeviceCellLines(const Block &block, const CellLines &lines, Stream stream);

  View view() const { return {groups_.data(), lines_.data(), places_.data(), groups_.size()}; }
  /// Numbers in double that solve_separable_lines_cuda() needs.
  std::int64_t work_size() const { return work_size_; }

private:
  DeviceArray<LineGroup> groups_;
  DeviceArray<PackedLine> lines_;
  DeviceArray<PackedPlace> places_;
  std::int64_t work_size_;
};
} // namespace tensormg::laplace
