// What a warp and a block of cuda_warps_steps own, what of it comes out right, and how a march is cut into parts.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tensormg::stencil
{
/// `width` neighbouring columns of a lane; `lines` of y that a warp writes (3D); rows (planes) that are on their way to
/// registers, and how many further ones on their way to the L2 cache. Warps of a block are neighbours in x (2D) or y (3D).
struct StepsTile
{
  static constexpr int lanes = 32;
  int dim, depth; ///< steps, of radius 1
  int width, lines, ahead;
  int warps, blocks; ///< of a block; of a multiprocessor that registers are kept free for
  int prefetched = 0;

  constexpr int threads() const { return lanes * warps; }
  /// Lanes on either side whose columns are read and computed by the neighbour as well.
  constexpr int rim_lanes() const { return (depth + width - 1) / width; }
  constexpr int rim_x() const { return rim_lanes() * width; }
  /// Columns of the result.
  constexpr int columns() const { return lanes * width - 2 * rim_x(); }
  constexpr int block_columns() const { return columns() * (dim == 3 ? 1 : warps); }
  constexpr int block_lines() const { return dim == 3 ? lines * warps : 1; }
  /// Lines that a warp has after so many steps; 0: of the input.
  constexpr int lines_after(int step) const { return lines + (dim == 3 ? 2 * (depth - step) : 0); }
  /// Lines of all steps before this one.
  constexpr int lines_before(int step) const
  {
    int sum = 0;
    for (int s = 1; s < step; ++s)
      sum += lines_after(s);
    return sum;
  }
};

/// In 3D sums of more lines leave less to compute twice, and 8 warps with 255 registers each have less to read twice
/// than 16 with 128.
constexpr StepsTile steps_tile(int dim, bool box, int depth, int width)
{
  if (dim == 2)
    return {dim, depth, width, 1, 4, 8, depth >= (box ? 4 : 6) ? 2 : 3};
  if (width == 1)
    return {dim, depth, width, 4, 2, 16, 1};
  return box ? StepsTile{dim, depth, width, 4, 1, 8, 1, 3}
             : StepsTile{dim, depth, width, 4, 2, 8, 1, 2};
}

/// Parts of a march over n rows (planes), each done by `tiles` blocks; `resident` blocks run at the same time, and all of
/// them take as long as one.
constexpr int steps_parts(
    int dim, int depth, std::int64_t n, std::int64_t tiles, std::int64_t resident)
{
  // Blocks of the first wave begin together, and what two of them read comes from the cache. Later ones do not, and
  // drift apart over the rows of a part.
  const std::int64_t most_rows = dim == 3 ? 64 : 192, fewest_rows = 2 * depth;
  constexpr std::int64_t candidates = 64, most_parts = 65535;
  const auto divide_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t longest = std::clamp<std::int64_t>(n / fewest_rows, 1, most_parts);
  const std::int64_t first = std::min(longest, divide_up(n, most_rows));
  std::int64_t best = std::clamp<std::int64_t>(resident / tiles, 1, longest), least = -1;
  const auto time = [&](std::int64_t parts) {
    return divide_up(parts * tiles, resident) * (divide_up(n, parts) + 2 * depth + 1);
  };
  if (best * tiles <= resident)
    least = time(best);
  for (std::int64_t parts = first; parts <= std::min(longest, first + candidates); ++parts)
    if (least < 0 || time(parts) < least)
    {
      least = time(parts);
      best = parts;
    }
  return static_cast<int>(best);
}
} // namespace tensormg::stencil
