// What a product loses because a device computes whole tiles, and many of them at once.
//
//   tiles      ceil(m / tile_m) ceil(n / tile_n), computed as a whole: tile quantisation
//   waves      ceil(tiles / blocks): the last one takes as long as the others, however few tiles it has: wave
//              quantisation
//   time       start + waves x wave
//
// Tests: tests/kernels/diagnostics/gemm/quantisation_test.cc.
#pragma once

#include <cstdint>

#include "kernels/diagnostics/gemm/gemm.h"

namespace tensormg::gemm
{
/// How a kernel divides C on a device.
struct Blocking
{
  int tile_m = 1, tile_n = 1;
  int blocks = 1; ///< that run at once
};

struct Waves
{
  std::int64_t tiles = 0, waves = 0;
  double tile_use = 0.; ///< part of the tiles' entries that C has
  double wave_use = 0.; ///< part of the waves' places that have a tile
  /// Part of what the device could compute in that time that is asked for.
  constexpr double use() const { return tile_use * wave_use; }
};

constexpr std::int64_t divide_up(std::int64_t size, std::int64_t by)
{
  return (size + by - 1) / by;
}

constexpr Waves waves_of(const Size &size, const Blocking &blocking)
{
  Waves result;
  result.tiles = divide_up(size.m, blocking.tile_m) * divide_up(size.n, blocking.tile_n);
  result.waves = divide_up(result.tiles, blocking.blocks);
  if (result.tiles == 0)
    return result;
  const auto number = [](std::int64_t x) { return static_cast<double>(x); };
  result.tile_use = number(size.m) * number(size.n) /
      (number(result.tiles) * number(blocking.tile_m) * number(blocking.tile_n));
  result.wave_use = number(result.tiles) / (number(result.waves) * number(blocking.blocks));
  return result;
}

/// Time of a product of given k by its waves.
struct WaveTime
{
  double start = 0., wave = 0.;
  constexpr double after(std::int64_t waves) const
  {
    return start + static_cast<double>(waves) * wave;
  }
};

/// Through the times of two products with different numbers of waves.
constexpr WaveTime wave_time(std::int64_t waves, double time, std::int64_t more, double longer)
{
  const double wave = (longer - time) / static_cast<double>(more - waves);
  return {time - static_cast<double>(waves) * wave, wave};
}

/// Tiles of a full wave as a rectangle, as near to a square as its divisors allow, rows <= columns.
struct Rectangle
{
  int rows = 1, columns = 1;
};
constexpr Rectangle full_wave(int blocks)
{
  int rows = 1;
  for (int r = 1; r * r <= blocks; ++r)
    if (blocks % r == 0)
      rows = r;
  return {rows, blocks / rows};
}
} // namespace tensormg::gemm
