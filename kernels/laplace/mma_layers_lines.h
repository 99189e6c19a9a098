// Which modes of a plane are multiplied together for the sums along y in the tensor-core layer kernel: see
// mma_layers.cuh.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tensormg::laplace
{
/// A product has 16 slots for modes and columns for `per_tile` lines in y, value and half derivative of each. The modes
/// of a block of 16 are those of one tile's lines, so that a block takes one product.
///
/// ldmatrix reads eight lines in x at a time, from different banks if their numbers differ modulo 8 (SwizzledRows): slot
/// s holds a mode that is s modulo 8. For n = 8 that is one of each line in y, hence of both tiles: there two modes
/// share their banks, reads take twice as long, and the weights are those of both tiles.
template <int n>
struct LineBlocks
{
  static constexpr int per_tile = n == 5 || n == 9 ? 3 : 4;
  static constexpr int line_tiles = (n + per_tile - 1) / per_tile;

  /// Blocks before those of this tile.
  static constexpr int first_of(int tile)
  {
    int sum = 0;
    for (int before = 0; before < tile; ++before)
    {
      const int lines = n - per_tile * before;
      sum += ((lines < per_tile ? lines : per_tile) * n + 15) / 16;
    }
    return sum;
  }
  static constexpr int blocks = first_of(line_tiles);
  static constexpr int weights = n == 8 ? blocks / 2 : blocks; ///< different ones

  static constexpr int tile_of(int block) { return int(tiles_of_blocks >> 4 * block & 15u); }
  // In four bits each: loops over blocks are unrolled with this, with a search they are not.
  static constexpr unsigned tiles_of_blocks = [] {
    unsigned bits = 0;
    for (int tile = 0; tile < line_tiles; ++tile)
      for (int block = first_of(tile); block < first_of(tile + 1); ++block)
        bits |= unsigned(tile) << 4 * block;
    return bits;
  }();

  /// Mode j n + i in slot 0..15 of a block; -1: none.
  static constexpr int mode(int block, int slot)
  {
    const int tile = tile_of(block), first = per_tile * tile;
    if (n == 8)
      return (block % 2 * 4 + slot / 4) * n + first + slot % 4;
    int before =
        2 * (block - first_of(tile)) + slot / 8; // modes that are slot modulo 8, in earlier ones
    for (int j = 0; j < n; ++j)
      for (int i = first; i < first + per_tile && i < n; ++i)
        if ((j * n + i) % 8 == slot % 8 && before-- == 0)
          return j * n + i;
    return -1;
  }

  static constexpr bool complete()
  {
    int found[n * n] = {};
    for (int block = 0; block < blocks; ++block)
      for (int slot = 0; slot < 16; ++slot)
        if (mode(block, slot) >= 0)
          ++found[mode(block, slot)];
    return std::all_of(found, found + n * n, [](int times) { return times == 1; });
  }
};
static_assert(LineBlocks<5>::complete() && LineBlocks<6>::complete() && LineBlocks<7>::complete() &&
    LineBlocks<8>::complete() && LineBlocks<9>::complete());

/// Which modes of a line in x of a cell beside a warp's a lane reads, t = lane % 4: words 2 b and 2 b + 1 are its slots 2 t and
/// 2 t + 1 in product b. Shared memory is read a word of all lanes at a time, so modes are dealt out such that few of those that
/// are read together, of all the lines of a warp, share their banks: their numbers differ modulo 8 (SwizzledRows). For
/// n = 5 to 9 one side takes 4, 5, 4, 8 and 5 cycles (in the order of memory 5, 10, 4, 8 and 5).
template <int n>
struct EndSlots
{
  static constexpr int words = n <= 8 ? 2 : 3;
  /// -1: none
  static constexpr int mode(int word, int t)
  {
    const int digit = int(modes >> (16 * word + 4 * t) & 15u);
    return digit < n ? digit : -1;
  }
  // In four bits each, as tiles_of_blocks.
  static constexpr std::uint64_t modes = n == 5 ? 0x4321fff0
      : n == 6                                  ? 0x5410ff32
      : n == 7                                  ? 0x6521f430
      : n == 8                                  ? 0x76543210
                                                : 0xfffffff687524310;

  static constexpr bool complete()
  {
    int found = 0;
    for (int word = 0; word < words; ++word)
      for (int t = 0; t < 4; ++t)
        if (mode(word, t) >= 0)
          found |= 1 << mode(word, t);
    return found == (1 << n) - 1;
  }
  /// Of `lines` lines one after the other, all words of one side.
  static constexpr int cycles(int lines)
  {
    int sum = 0;
    for (int word = 0; word < words; ++word)
    {
      int of_bank[8] = {};
      for (int line = 0; line < lines; ++line)
        for (int t = 0; t < 4; ++t)
          if (mode(word, t) >= 0)
            ++of_bank[(line * n + mode(word, t)) % 8];
      sum += *std::max_element(of_bank, of_bank + 8);
    }
    return sum;
  }
};
static_assert(EndSlots<5>::complete() && EndSlots<6>::complete() && EndSlots<7>::complete() &&
    EndSlots<8>::complete() && EndSlots<9>::complete());
static_assert(EndSlots<5>::cycles(5) == 4 && EndSlots<6>::cycles(6) == 5 &&
    EndSlots<7>::cycles(4) == 4 && EndSlots<8>::cycles(4) == 8 && EndSlots<9>::cycles(3) == 5);
} // namespace tensormg::laplace
