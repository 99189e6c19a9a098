// In which order blocks take the tiles of C.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/gemm/gemm.h"

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
