// In which order blocks take the tiles of C.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/diagnostics/gemm/gemm.h"

namespace tensormg::gemm
{
/// Numbers of tiles.
struct Tiles
{
  int m, n;
};

/// Throws std::length_error unless all sizes and the number of tiles fit into 32 bits.
inline Tiles tiles_of(const Size &size, int tile_m, int tile_n)
{
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  for (const std::int64_t extent : {size.m, size.n, size.k})
    if (extent > most)
      throw std::length_error(
          "a matrix size of " + std::to_string(extent) + "; at most " + std::to_string(most));
  const std::int64_t m = (size.m + tile_m - 1) / tile_m, n = (size.n + tile_n - 1) / tile_n;
  if (m * n > most)
    throw std::length_error("a product of " + std::to_string(m * n) + " tiles");
  return {static_cast<int>(m), static_cast<int>(n)};
}

struct Position
{
  int m, n;
};

/// Tile `index` of tiles_m x tiles_n: bands of eight rows of tiles, column by column, so that blocks that run
/// together share tiles of A and B in the second cache.
constexpr Position tile_position(int index, int tiles_m, int tiles_n)
{
  constexpr int band = 8;
  const int first = index / (band * tiles_n) * band;
  const int rows = tiles_m - first < band ? tiles_m - first : band;
  const int within = index - first * tiles_n;
  return {first + within % rows, within / rows};
}

/// What persistent blocks work on: `whole` tiles from beginning to end, each of the others in `parts` parts along k, whose
/// sums are added later.
struct Division
{
  Tiles tiles;
  int steps; ///< along k, of a tile
  int whole, parts = 1;
  bool edge_last = false; ///< tiles of the last column, which C fills in part, come last

  constexpr int divided() const { return tiles.m * tiles.n - whole; } ///< tiles
  constexpr int sections() const { return whole + divided() * parts; }
};

constexpr Position position_of(const Division &division, int tile)
{
  const Tiles &tiles = division.tiles;
  if (!division.edge_last)
    return tile_position(tile, tiles.m, tiles.n);
  const int before = tiles.m * (tiles.n - 1);
  return tile < before ? tile_position(tile, tiles.m, tiles.n - 1)
                       : Position{tile - before, tiles.n - 1};
}

/// Steps [first, end) along k of a tile.
struct Section
{
  Position tile;
  int first, end;
  int partial; ///< which of the sums that are added later; -1: these are entries of C
};

/// Parts of a tile follow each other, so that they run at the same time.
constexpr Section section_of(const Division &division, int index)
{
  if (index < division.whole)
    return {position_of(division, index), 0, division.steps, -1};
  const int partial = index - division.whole;
  const int tile = division.whole + partial / division.parts, part = partial % division.parts;
  const auto begin = [&](int p) {
    return static_cast<int>(static_cast<std::int64_t>(division.steps) * p / division.parts);
  };
  return {position_of(division, tile), begin(part), begin(part + 1), partial};
}

/// The steps along k of a persistent block: all of a tile, then those of its next one.
class BlockSteps
{
public:
  constexpr BlockSteps(int block, int blocks, Tiles tiles, int steps)
    : tiles_(tiles)
    , steps_(steps)
    , blocks_(blocks)
    , tile_(block)
    , position_(tile_position(block, tiles.m, tiles.n))
  {}
  constexpr bool has_more() const { return tile_ < tiles_.m * tiles_.n; }
  constexpr Position position() const { return position_; }
  constexpr int step() const { return step_; }
  constexpr void advance()
  {
    if (++step_ < steps_)
      return;
    step_ = 0;
    tile_ += blocks_;
    position_ = tile_position(tile_, tiles_.m, tiles_.n);
  }

private:
  Tiles tiles_;
  int steps_, blocks_, tile_, step_ = 0;
  Position position_;
};
} // namespace tensormg::gemm
