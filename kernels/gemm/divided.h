// Into how many parts along k a product is divided whose tiles are too few for the device.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/quantisation.h"

namespace tensormg::gemm
{
/// Steps along k that a part has at least: fewer are not worth writing and reading its sums.
inline constexpr std::int64_t least_steps_of_part = 8;

/// More blocks than these on a multiprocessor make the sums of parts more and the products no faster.
inline constexpr int most_blocks_of_part = 2;

/// 1 if more than half of the multiprocessors have a tile: to divide would give them no less to multiply, and sums of parts to
/// write and to read. Otherwise as many parts as fill the device.
constexpr int parts_along_k(
    const Size &size, const Blocking &blocking, int tile_k, int multiprocessors)
{
  if (size.m == 0 || size.n == 0)
    return 1;
  const std::int64_t tiles =
      divide_up(size.m, blocking.tile_m) * divide_up(size.n, blocking.tile_n);
  if (2 * tiles > multiprocessors)
    return 1;
  const std::int64_t steps = divide_up(size.k, tile_k),
                     blocks = std::min(blocking.blocks, most_blocks_of_part * multiprocessors);
  return static_cast<int>(std::clamp<std::int64_t>(steps / least_steps_of_part, 1, blocks / tiles));
}
} // namespace tensormg::gemm
