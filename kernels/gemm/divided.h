// Into how many parts along k the tiles of a product are divided of which a device has too few, or some beyond whole waves.
// Tests: tests/kernels/gemm_divided_test.cc.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/quantisation.h"
#include "kernels/gemm/tile_order.h"

namespace tensormg::gemm
{
/// What a kernel on a device makes of a product.
struct Work
{
  Size size;
  Blocking blocking;
  int tile_k;
  int multiprocessors;

  Tiles tiles() const { return tiles_of(size, blocking.tile_m, blocking.tile_n); }
  constexpr int steps() const { return static_cast<int>(divide_up(size.k, tile_k)); }
};

/// Steps along k that a part has at least: fewer are not worth writing and reading its sums.
inline constexpr int least_steps_of_part = 8;

/// More blocks than these on a multiprocessor make the sums of parts more and the products no faster.
inline constexpr int most_blocks_of_part = 2;

inline Division undivided(const Work &work)
{
  const Tiles tiles = work.tiles();
  return {tiles, work.steps(), tiles.m * tiles.n, 1};
}

/// All tiles in so many parts.
inline Division divided(const Work &work, int parts)
{
  return parts > 1 ? Division{work.tiles(), work.steps(), 0, parts} : undivided(work);
}

/// If at most half of the multiprocessors have a tile, as many parts as fill the device: more tiles would have no less to multiply
/// then, and sums of parts to write and to read.
inline Division divide_few_tiles(const Work &work)
{
  const int tiles = undivided(work).whole;
  if (tiles == 0 || tiles > work.multiprocessors / 2)
    return undivided(work);
  const int blocks = std::min(work.blocking.blocks, most_blocks_of_part * work.multiprocessors);
  return divided(work, std::clamp(work.steps() / least_steps_of_part, 1, blocks / tiles));
}

/// Time of a division of FP64 products, in steps of a tile on a multiprocessor that several blocks keep busy; one that is alone there
/// takes `alone` times as long. The sums of parts are written and read by the whole device, and added by a kernel of their own.
inline double time_of(const Division &division, const Work &work, double alone)
{
  // Of sweeps on an H100 (docs/performance/gemm-plans-h100.json), for both sizes of tiles.
  constexpr double sums_of_part = 8., kernel = 12.;
  const int multiprocessors = work.multiprocessors;
  const auto time = [&](int blocks, std::int64_t steps) {
    const int rest = blocks % work.blocking.blocks;
    const bool is_alone =
        rest > 0 && rest <= multiprocessors && work.blocking.blocks > multiprocessors;
    return (static_cast<double>(divide_up(blocks, multiprocessors)) +
               (is_alone ? alone - 1. : 0.)) *
        static_cast<double>(steps);
  };
  const int parts = division.sections() - division.whole;
  if (parts == 0)
    return time(division.whole, division.steps);
  // Parts begin when the first of the whole tiles end.
  return static_cast<double>(divide_up(division.whole, multiprocessors)) * division.steps +
      time(parts, divide_up(division.steps, division.parts)) +
      sums_of_part * parts / multiprocessors + kernel;
}

/// As many whole tiles as the multiprocessors can share evenly, the rest divided where that takes less time.
inline Division divide_rest(const Work &work, double alone)
{
  constexpr int most_waves = 2; ///< of parts, whose sums take memory
  Division best = undivided(work);
  const int all = best.whole, rest = all % work.multiprocessors;
  if (rest == 0)
    return best;
  const int most =
      std::min(most_waves * work.blocking.blocks / rest, best.steps / least_steps_of_part);
  double least = time_of(best, work, alone);
  for (int parts = 2; parts <= most; ++parts)
  {
    const Division division{best.tiles, best.steps, all - rest, parts};
    if (const double time = time_of(division, work, alone); time < least)
    {
      best = division;
      least = time;
    }
  }
  return best;
}
} // namespace tensormg::gemm
