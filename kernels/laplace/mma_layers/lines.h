// Which modes and planes are multiplied together in the tensor-core layer kernel, and who owns them: see
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

/// Which modes of a plane a warp owns, and in which of its slots: eight slots are a tile, the columns of a product, sixteen are a block,
/// what ldmatrix reads at a time.
///
/// Natural order: lines j from share * lines on, slot (j - first) n + i. By parity (n = 7): each of two warps owns lines j of one parity,
/// so that of faces in y a sum and a difference of the traces below and above are all that its modes want (FacesZ). A tile has four
/// modes i of two such lines, j and j + 4, of which eight lines of a plane lie in different banks (SwizzledRows); what it wants of faces in
/// y and x are 8 slots each. Lines of seven modes have a place for an eighth.
template <int n, int lines>
struct OwnModes
{
  static constexpr bool by_parity = n == 7;
  static constexpr int slots = by_parity ? 8 * lines : n * lines;

  /// j of a warp's line; n or more: it has none.
  static constexpr int line(int share, int row)
  {
    return by_parity ? 4 * (row % 2) + row / 2 * 2 + share : share * lines + row;
  }
  /// Which of the warp's lines.
  static constexpr int row(int slot) { return by_parity ? slot / 16 * 2 + slot % 8 / 4 : slot / n; }
  /// i, n or more: none.
  static constexpr int mode_of_line(int slot)
  {
    return by_parity ? slot / 8 % 2 * 4 + slot % 4 : slot % n;
  }
  /// Whether there is such a mode.
  static constexpr bool exists(int share, int slot)
  {
    return slot < slots && mode_of_line(slot) < n && line(share, row(slot)) < n;
  }
  /// Mode j n + i of a plane; where there is none, one that lies in the bank where it would: it is read, for nothing.
  static constexpr int mode(int share, int slot)
  {
    const int natural = line(share, row(slot)) * n + mode_of_line(slot);
    return natural < n * n && (exists(share, slot) || !by_parity) ? natural : natural % 8;
  }
  /// Whether a block of `count` slots has modes of the lines of a pair.
  static constexpr bool overlap(int first, int count, int pair)
  {
    return by_parity ? first / 16 == pair
                     : first < n * (2 * pair + 2) && first + count > n * 2 * pair;
  }

  static constexpr bool complete()
  {
    int found[n * n] = {};
    for (int share = 0; share < (n + lines - 1) / lines; ++share)
      for (int slot = 0; slot < slots; ++slot)
        if (exists(share, slot))
          ++found[mode(share, slot)];
    return std::all_of(found, found + n * n, [](int times) { return times == 1; });
  }
};
static_assert(OwnModes<5, 5>::complete() && OwnModes<6, 6>::complete() &&
    OwnModes<7, 4>::complete() && OwnModes<8, 4>::complete() && OwnModes<9, 3>::complete());

/// Which planes of a layer are read together for the lines in z, two at a time: the sums of even and of odd modes k give the traces at
/// both ends, so a pair has planes of one parity, as a product has.
template <int n>
struct PlanePairs
{
  /// Of that parity.
  static constexpr int count(int parity) { return (n - parity + 3) / 4; }
  static constexpr int pairs = count(0) + count(1);
  /// Number of a pair among all of them.
  static constexpr int pair(int parity, int at) { return parity * count(0) + at; }
  /// n or more: there is no second one.
  static constexpr int plane(int pair, int second)
  {
    const int parity = pair < count(0) ? 0 : 1;
    return 4 * (pair - parity * count(0)) + 2 * second + parity;
  }

  static constexpr bool complete()
  {
    int found[n] = {};
    for (int parity = 0; parity < 2; ++parity)
      for (int at = 0; at < count(parity); ++at)
        for (int second = 0; second < 2; ++second)
          if (const int k = plane(pair(parity, at), second); k < n)
            ++found[k];
    return std::all_of(found, found + n, [](int times) { return times == 1; });
  }
};
static_assert(PlanePairs<5>::complete() && PlanePairs<6>::complete() && PlanePairs<7>::complete() &&
    PlanePairs<8>::complete() && PlanePairs<9>::complete());

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
  /// Of the lines of a warp, all words of one side.
  template <int lines>
  static constexpr int cycles(int share)
  {
    int sum = 0;
    for (int word = 0; word < words; ++word)
    {
      int of_bank[8] = {};
      for (int row = 0; row < lines; ++row)
        for (int t = 0; t < 4; ++t)
          if (const int j = OwnModes<n, lines>::line(share, row); j < n && mode(word, t) >= 0)
            ++of_bank[(j * n + mode(word, t)) % 8];
      sum += *std::max_element(of_bank, of_bank + 8);
    }
    return sum;
  }
};
static_assert(EndSlots<5>::complete() && EndSlots<6>::complete() && EndSlots<7>::complete() &&
    EndSlots<8>::complete() && EndSlots<9>::complete());
static_assert(EndSlots<5>::cycles<5>(0) == 4 && EndSlots<6>::cycles<6>(0) == 5 &&
    EndSlots<7>::cycles<4>(0) == 4 && EndSlots<7>::cycles<4>(1) <= 4 &&
    EndSlots<8>::cycles<4>(0) == 8 && EndSlots<9>::cycles<3>(0) == 5);
} // namespace tensormg::laplace
