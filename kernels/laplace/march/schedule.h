// Which tiles and layers each block of a marching kernel works on.
#pragma once

#include <algorithm>
#include <array>

namespace tensormg::laplace
{
/// A tile in x-y and the cell layers z0 <= c < z1 that one block marches through.
struct Segment
{
  int tile = 0;
  int z0 = 0;
  int z1 = 0;
};

/// Distributes `tiles` columns of `layers` layers over `blocks` blocks. Whole columns go round robin as
/// long as there are enough for every block; the rest is cut in z, so that all blocks are busy, and what
/// remains of the pieces is cut again. Neighbouring tiles are worked on at the same time in the same
/// layers (their halos are then found in the L2 cache).
///
/// Piece q of level l goes to block q % blocks, in round q / blocks; the last `rest` pieces of a level,
/// fewer than blocks, are the parents of the next level: piece q there is part q / rest of parent
/// q % rest.
class MarchSchedule
{
public:
  static constexpr int max_levels = 6;
  /// Layers' worth of time that a cut costs: one layer is read twice on each side.
  static constexpr double cut_cost = 1.5;

  constexpr MarchSchedule() = default;
  /// The layers begin with number `first`.
  constexpr MarchSchedule(int tiles, int layers, int blocks, int first = 0)
    : first_(first)
    , layers_(layers)
    , blocks_(blocks)
  {
    int pieces = tiles;
    double length = layers;
    for (levels_ = 0; levels_ < max_levels; ++levels_)
    {
      Level &level = level_[levels_];
      level.pieces = pieces;
      level.rest = pieces % blocks;
      // Cutting into `parts` keeps every block busy once; with one more part there is a rest again.
      int parts = level.rest == 0 ? 1 : blocks / level.rest;
      if (level.rest > 0 && blocks % level.rest != 0 && levels_ + 2 < max_levels)
      {
        const double once = length / parts;
        const double again = length / (parts + 1);
        const double then = again * ((parts + 1) * level.rest - blocks) / blocks + cut_cost;
        if (again + std::max(then, cut_cost + 1.) < once)
          ++parts;
      }
      parts = std::min(parts, std::max(1, static_cast<int>(length)));
      if (level.rest == 0 || parts == 1)
      {
        level.rest = 0; // no further level: all pieces are worked on here
        ++levels_;
        return;
      }
      level.parts = parts;
      pieces = level.rest * parts;
      length /= parts;
    }
    level_[levels_ - 1].rest = 0;
  }

  /// The index-th segment of a block; false if it has no more.
  constexpr bool segment(int block, int index, Segment &result) const
  {
    for (int l = 0; l < levels_; ++l)
    {
      const int here = level_[l].pieces - level_[l].rest;
      const int count = here > block ? (here - block - 1) / blocks_ + 1 : 0;
      if (index < count)
      {
        result = resolve(l, index * blocks_ + block);
        return true;
      }
      index -= count;
    }
    return false;
  }

  /// Layers that a block works on in all.
  constexpr int layers_of(int block) const
  {
    int sum = 0;
    Segment s;
    for (int index = 0; segment(block, index, s); ++index)
      sum += s.z1 - s.z0;
    return sum;
  }

  /// The largest layers_of() of all blocks.
  constexpr int longest() const
  {
    int most = 0;
    for (int block = 0; block < blocks_; ++block)
      most = std::max(most, layers_of(block));
    return most;
  }

  constexpr int blocks() const { return blocks_; }

private:
  struct Level
  {
    int pieces = 0; ///< of this level
    int rest = 0;   ///< the last ones, cut further
    int parts = 1;  ///< into this many each
  };

  constexpr Segment resolve(int level, int piece) const
  {
    // Up to the tile, remembering which part of each parent was taken.
    std::array<int, max_levels> part{};
    for (int l = level; l > 0; --l)
    {
      const Level &parent = level_[l - 1];
      part[l] = piece / parent.rest;
      piece = parent.pieces - parent.rest + piece % parent.rest;
    }
    Segment s{piece, first_, first_ + layers_};
    for (int l = 1; l <= level; ++l)
    {
      const int parts = level_[l - 1].parts, length = s.z1 - s.z0, z0 = s.z0;
      s.z0 = z0 + length * part[l] / parts;
      s.z1 = z0 + length * (part[l] + 1) / parts;
    }
    return s;
  }

  int first_ = 0, layers_ = 0;
  int blocks_ = 1;
  int levels_ = 0;
  std::array<Level, max_levels> level_{};
};

/// Blocks out of `most` for a MarchSchedule without cuts: as few as the same number of rounds of whole columns needs, if the
/// columns divide evenly and the blocks that stay idle are worth less than 4 % of the time; else all. A cut reads layers
/// twice, and blocks in different layers find less of each other's cells in L2.
constexpr int blocks_for_whole_columns(int tiles, int most)
{
  const long rounds = (tiles + most - 1) / most;
  return tiles % rounds == 0 && 100 * rounds * most <= 104L * tiles
      ? static_cast<int>(tiles / rounds)
      : most;
}

/// For the blocks of take_worker(), of which the first half is near one half of L2: their numbers such that this half has the
/// left half of every row of tiles in a round, instead of the lower rows. `number` itself unless the blocks have whole rows of an
/// even number of tiles.
constexpr int worker_with_half_of_rows(int number, int workers, int tiles_x)
{
  if (tiles_x % 2 != 0 || workers % tiles_x != 0)
    return number;
  const int width = tiles_x / 2, half = workers / 2;
  const int of_half = number % half;
  return of_half / width * tiles_x + (number < half ? 0 : width) + of_half % width;
}
} // namespace tensormg::laplace
