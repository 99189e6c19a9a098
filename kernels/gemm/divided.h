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

/// 1 if more than half of the blocks that fit on the device have a tile. Otherwise as many parts as fill it, so that the sums of all
/// parts take no more room than the tiles of all blocks.
constexpr int parts_along_k(const Size &size, const Blocking &blocking, int tile_k)
{
  if (size.m == 0 || size.n == 0)
    return 1;
  const std::int64_t tiles =
      divide_up(size.m, blocking.tile_m) * divide_up(size.n, blocking.tile_n);
  if (2 * tiles > blocking.blocks)
    return 1;
  const std::int64_t steps = divide_up(size.k, tile_k);
  return static_cast<int>(
      std::clamp<std::int64_t>(steps / least_steps_of_part, 1, blocking.blocks / tiles));
}
} // namespace tensormg::gemm
