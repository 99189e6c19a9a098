// A product whose blocks get equal numbers of steps along k, wherever tiles begin and end (stream-K): no multiprocessor waits for
// others, whatever the number of tiles. The first tiles may have a block of their own each; the steps of all others, tile after
// tile, are cut into shares of the same length. A share has sections of one or more tiles; the sums of sections are added later.
//
// Source: M. Osama et al., Stream-K, PPoPP 2023, doi:10.1145/3572848.3577479 (there blocks add the sums of others).
// Tests: tests/kernels/diagnostics/gemm/stream_k_test.cc.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/diagnostics/gemm/tile_order.h"

namespace tensormg::gemm
{
/// `shares` > 0 where not all tiles are whole. No share is empty: shares <= steps of the divided tiles.
struct StreamK
{
  Tiles tiles;
  int steps; ///< along k, of a tile
  int whole, shares = 0;

  constexpr int divided() const { return tiles.m * tiles.n - whole; } ///< tiles
  constexpr int blocks() const { return whole + shares; }
  constexpr std::int64_t steps_of_divided() const
  {
    return static_cast<std::int64_t>(divided()) * steps;
  }
  /// The first step of a share, counted from the first one of the divided tiles.
  constexpr std::int64_t begin(int share) const { return steps_of_divided() * share / shares; }
  constexpr int share_of(std::int64_t step) const
  {
    return static_cast<int>(((step + 1) * shares - 1) / steps_of_divided());
  }
  /// Each share has a section and each beginning of a tile another one: where both begin together, one place stays empty.
  constexpr int partials() const { return shares == 0 ? 0 : shares + divided() - 1; }
};

/// Steps [first, end) along k of a tile.
struct SectionOfShare
{
  int tile; ///< of all
  int first, end;
  int start;   ///< the step to begin with; those before it come last
  int partial; ///< which of the sums that are added later; -1: these are entries of C

  constexpr int steps() const { return end - first; }
  constexpr int step(int index) const
  {
    const int step = start + index;
    return step < end ? step : step - steps();
  }
};

/// Of the divided tiles.
struct Partials
{
  int first, count;
};

/// Which sums a divided tile has, in the order of k; `tile` counts the divided ones.
constexpr Partials partials_of(const StreamK &product, int tile)
{
  const std::int64_t begin = static_cast<std::int64_t>(tile) * product.steps;
  const int first = product.share_of(begin), last = product.share_of(begin + product.steps - 1);
  return {first + tile, last - first + 1};
}

/// Section `index` of a block, from 0 on; one without steps behind the last.
///
/// Shares begin anywhere in their tiles, but all of them begin to compute at multiples of their length, if they have one: so blocks
/// of different tiles read the same rows or columns at about the same time, and the second cache has them.
constexpr SectionOfShare section_of(const StreamK &product, int block, int index)
{
  if (block < product.whole)
    return {block, 0, index == 0 ? product.steps : 0, 0, -1};
  const int share = block - product.whole;
  const std::int64_t begin = product.begin(share), end = product.begin(share + 1);
  const int tile = static_cast<int>(begin / product.steps) + index; // of the divided ones
  const std::int64_t from = static_cast<std::int64_t>(tile) * product.steps;
  const auto within = [&](std::int64_t step) {
    return static_cast<int>(std::clamp<std::int64_t>(step - from, 0, product.steps));
  };
  const int first = within(begin), last = within(end);
  const std::int64_t shares_before =
      (static_cast<std::int64_t>(first) * product.shares + product.steps_of_divided() - 1) /
      product.steps_of_divided();
  const std::int64_t start = product.steps_of_divided() * shares_before / product.shares;
  return {product.whole + tile, first, last,
      start >= first && start < last ? static_cast<int>(start) : first, share + tile};
}
} // namespace tensormg::gemm
