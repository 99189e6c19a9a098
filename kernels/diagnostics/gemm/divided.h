// How the tiles of a product on mma.sync are shared out along k of which a device has too few, or some beyond whole waves.
// Tests: tests/kernels/diagnostics/gemm/divided_test.cc.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/diagnostics/gemm/gemm.h"
#include "kernels/diagnostics/gemm/quantisation.h"
#include "kernels/diagnostics/gemm/stream_k.h"
#include "kernels/diagnostics/gemm/tile_order.h"

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

/// Steps along k that a share has at least: fewer are not worth writing and reading its sums. Those of a rest pay for less, as the
/// multiprocessors would have nothing to do.
inline constexpr int least_steps_of_share = 8, least_steps_of_rest = 4;

/// More blocks than these on a multiprocessor make sums more and the products no faster.
inline constexpr int most_blocks_of_shares = 2;

inline StreamK undivided(const Work &work)
{
  const Tiles tiles = work.tiles();
  return {tiles, work.steps(), tiles.m * tiles.n};
}

/// All tiles but `whole` ones in at most so many shares.
inline StreamK divided(const Work &work, int whole, int shares, int least_steps)
{
  StreamK result{work.tiles(), work.steps(), whole};
  result.shares =
      static_cast<int>(std::min<std::int64_t>(shares, result.steps_of_divided() / least_steps));
  return result.shares > result.divided() ? result : undivided(work);
}

/// If at most half of the multiprocessors have a tile, as many shares as fill the device: more tiles would have no less to multiply
/// then, and sums to write and to read.
inline StreamK divide_few_tiles(const Work &work)
{
  const int tiles = undivided(work).whole;
  if (tiles == 0 || tiles > work.multiprocessors / 2)
    return undivided(work);
  return divided(work, 0,
      std::min(work.blocking.blocks, most_blocks_of_shares * work.multiprocessors),
      least_steps_of_share);
}

/// What a kernel of this size of tiles takes, in microseconds.
struct Costs
{
  double step; ///< of a tile along k, on a multiprocessor that several blocks keep busy
  /// How much longer with one block there: with factors that the second cache holds, and from memory.
  double alone_cached, alone;
  double partial; ///< writing and reading the sums of a section for each multiprocessor
};

/// Steps along k that a section takes longer than its own: its first tiles must come, and its sums go. Shares that cross the ends of
/// tiles have more sections than one, but for few of them.
inline constexpr double steps_of_section = 2.1, crossing = 1.5;
inline constexpr double add_time = 4.4;      ///< of the kernel that adds sums
inline constexpr double cached_bytes = 25e6; ///< of factors: half of the second cache

/// Time of an FP64 product, but for what all take. Of sweeps on an H200, revision 2675e2d.
inline double time_of(const StreamK &product, const Work &work, const Costs &costs)
{
  const Size &size = work.size;
  const bool is_cached =
      8. * static_cast<double>(size.m + size.n) * static_cast<double>(size.k) <= cached_bytes;
  const int multiprocessors = work.multiprocessors, at_once = work.blocking.blocks;
  const auto time = [&](int blocks, double steps) {
    const int last = blocks % at_once;
    const bool is_alone = last > 0 && last <= multiprocessors && at_once > multiprocessors;
    const double factor = is_cached ? costs.alone_cached : costs.alone;
    return (static_cast<double>(divide_up(blocks, multiprocessors)) +
               (is_alone ? factor - 1. : 0.)) *
        steps * costs.step;
  };
  if (product.shares == 0)
    return time(product.whole, product.steps + steps_of_section);
  const bool crosses = product.shares % product.divided() != 0;
  const int sections = crosses ? product.partials() : product.shares;
  // Shares begin when the first of the whole tiles end.
  const double whole = static_cast<double>(divide_up(product.whole, multiprocessors)) *
      (product.steps + steps_of_section) * costs.step;
  const double steps = static_cast<double>(divide_up(product.steps_of_divided(), product.shares)) +
      steps_of_section * (crosses ? crossing : 1.);
  return whole + time(product.shares, steps) + costs.partial * sections / multiprocessors +
      add_time;
}

/// As many whole tiles as the multiprocessors can share evenly, two at least for each, or none; the rest in shares, as many as one or
/// two blocks per multiprocessor, all of them or as many as tiles can be cut into evenly. What takes the least time.
inline StreamK divide_rest(const Work &work, const Costs &costs)
{
  StreamK best = undivided(work);
  const int all = best.whole, multiprocessors = work.multiprocessors;
  // Beside a single whole tile shares would compute at another place of k.
  const int whole = all >= 2 * multiprocessors ? all / multiprocessors * multiprocessors : 0;
  const int rest = all - whole;
  if (rest == 0)
    return best;
  double least = time_of(best, work, costs);
  const auto consider = [&](int shares) {
    const StreamK product = divided(work, whole, shares, least_steps_of_rest);
    if (const double time = time_of(product, work, costs); time < least)
    {
      best = product;
      least = time;
    }
  };
  for (int blocks = 1; blocks <= most_blocks_of_shares; ++blocks)
    if (const int shares = blocks * multiprocessors; shares <= work.blocking.blocks)
    {
      consider(shares);
      consider(shares / rest * rest);
    }
  return best;
}
} // namespace tensormg::gemm
