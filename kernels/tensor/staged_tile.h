// The work of one block of the tensor-core kernels that keep tensors in shared memory, and three layouts of
// them there.
//
// A contraction is a product D = A B with the constant matrix as A (rows i of the result) and the data as B:
// its columns are the lines of the tensor along the direction, eight at a time, in lexicographic order of the
// other two indices. So a lane (g, t) of the warp
//   reads   entry k = t + 4 e (FP16: 2 t + e % 2 + 8 (e / 2)) of line g,
//   writes  entries i = g, g + 8 of lines 2 t, 2 t + 1, which lie side by side in x but for lines along x.
#pragma once

#include "kernels/mma/fragment_maps.h"
#include "kernels/tensor/tensor_layout.h"

namespace tensormg::tensor
{
/// Lexicographic.
template <int n>
using PlainLayout = TensorLayout<n, n * n>;

/// Rows and planes padded to where a search found the fewest conflicts in all accesses together. There is no
/// padding without conflicts: the writes of neighbours want ld = 8 modulo 16 (FP64), the reads do not.
template <int n, int bytes>
struct PaddedLayoutOf;
template <>
struct PaddedLayoutOf<8, 8>
{
  using type = TensorLayout<10, 84>;
};
template <>
struct PaddedLayoutOf<8, 4>
{
  using type = TensorLayout<8, 72>;
};
template <>
struct PaddedLayoutOf<16, 8>
{
  using type = TensorLayout<18, 292>;
};
template <>
struct PaddedLayoutOf<16, 4>
{
  using type = TensorLayout<20, 328>;
};

/// Rows of 8, 16 or 32 numbers, permuted by XOR: for N = 8 and 16 no access has a conflict, for others few.
/// The idea is that of C. Cui, arXiv:2407.09621; more bits are moved here, because lines along x are written
/// as columns as well.
template <int n, int bytes>
struct PermutedLayoutOf
{
  static constexpr int ld = n <= 8 ? 8 : n <= 16 ? 16 : 32;
  static constexpr int plane = (n + 1) / 2 * 2 * ld;
  using type = TensorLayout<ld, plane, BitOf{Axis::y, 0, 3}, BitOf{Axis::y, 1, 2},
      BitOf{Axis::y, 2, 3}, BitOf{Axis::z, 0, 3}, BitOf{Axis::z, 1, 2}>;
};
template <>
struct PermutedLayoutOf<8, 8>
{
  using type = TensorLayout<8, 64, BitOf{Axis::y, 1, 2}, BitOf{Axis::y, 2, 3}, BitOf{Axis::z, 0, 3},
      BitOf{Axis::z, 1, 2}>;
};
template <>
struct PermutedLayoutOf<8, 4>
{
  using type = TensorLayout<8, 64, BitOf{Axis::y, 2, 3}, BitOf{Axis::z, 0, 3}, BitOf{Axis::z, 1, 4},
      BitOf{Axis::z, 2, 3}>;
};
template <int n>
requires(n > 8 && n <= 16) struct PermutedLayoutOf<n, 4>
{
  using type = TensorLayout<16, (n + 1) / 2 * 32, BitOf{Axis::y, 1, 3}, BitOf{Axis::y, 2, 4},
      BitOf{Axis::y, 2, 2}, BitOf{Axis::z, 0, 3}, BitOf{Axis::z, 1, 4}, BitOf{Axis::z, 2, 3}>;
};
template <int n>
requires(n > 16) struct PermutedLayoutOf<n, 4>
{
  using type =
      TensorLayout<32, n * 32, BitOf{Axis::y, 0, 4}, BitOf{Axis::y, 1, 3}, BitOf{Axis::y, 2, 4},
          BitOf{Axis::y, 2, 2}, BitOf{Axis::z, 0, 3}, BitOf{Axis::z, 1, 4}, BitOf{Axis::z, 2, 3}>;
};

template <int dim_, int n_, typename Layout_>
struct StagedTile
{
  using Layout = Layout_;
  static constexpr int dim = dim_;
  static constexpr int n = n_;
  static constexpr int tensors = dim == 3 ? 1 : 16; ///< per block
  static constexpr int planes = dim == 3 ? n : tensors;
  static constexpr int lines = planes * n;        ///< along x, and along y; along z in 3D
  static constexpr int columns = (lines + 7) / 8; ///< tiles of eight lines
  /// Numbers of one field in shared memory.
  static constexpr int field_size = planes * Layout::plane;

  /// So many that few are idle in the last round of column tiles.
  static constexpr int warps = n <= 8 ? 2
      : n == 9                        ? (dim == 3 ? 4 : 6)
      : n == 10                       ? 5
      : n == 14                       ? (dim == 3 ? 5 : 7)
      : n == 16                       ? 8
                                      : 6;
  static constexpr int threads = 32 * warps;
  /// Blocks that registers must leave room for: 128 registers per thread, or 168.
  static constexpr int resident = (n <= 16 ? 512 : 384) / threads;
  /// Column tiles of a warp one after the other: warp + round * warps.
  static constexpr int rounds = (columns + warps - 1) / warps;
  /// The lines of a round are whole planes or rows of one tensor, N is a power of two: see LaneOffset.
  static constexpr bool is_regular = dim == 3 && (n == 8 || n == 16);
  static_assert(!is_regular || lines == 8 * warps * rounds);
  /// By how much the slower index of a line grows from round to round; the faster one stays.
  static constexpr int slow_per_round = 8 * warps / n;

  /// Lines along x and y are (z, y) and (z, x), lines along z are (y, x): offset of entry k of a line.
  template <int d>
  static constexpr int offset(int line, int k)
  {
    const int slow = line / n, fast = line % n;
    return d == 0 ? Layout()(slow, fast, k)
        : d == 1  ? Layout()(slow, k, fast)
                  : Layout()(k, slow, fast);
  }
};

/// Offsets of a lane's entries of lines along d of a regular tile: one for the lane, the others from it by
/// constants. The bits of the numbers of a line and of an entry that differ between lanes are those of line_mask
/// and entry_mask; the constants have none of them. So both parts of an offset are known apart: a padded layout
/// adds them, a permuted one, which is linear over XOR, flips bits. Where the lane has no bit, flipping is
/// adding, which is part of the instruction that reads or writes.
template <typename Tile, int d, int line_mask, int entry_mask>
class LaneOffset
{
public:
  constexpr LaneOffset(int line, int entry)
    : first_(Tile::template offset<d>(line, entry))
  {}
  /// Of the entry that is by `lines` and `entries` further.
  constexpr int at(int lines, int entries) const
  {
    const int by = Tile::template offset<d>(lines, entries);
    return (first_ ^ (by & lane_bits)) + (by & ~lane_bits);
  }

private:
  /// All bits that first_ may have.
  static constexpr int find_lane_bits()
  {
    int bits = 0;
    for (int bit = 1; bit < Tile::lines; bit *= 2)
      bits |= Tile::template offset<d>(bit & line_mask, 0) |
          Tile::template offset<d>(0, bit & entry_mask);
    return bits;
  }
  static constexpr int lane_bits = Tile::Layout::is_permuted ? find_lane_bits() : 0;

  int first_;
};

/// For a lane of a warp reading operand B: line 8 warp + g, entry of element 0.
template <typename S, typename Tile, int d>
class ReadOffset
{
public:
  constexpr ReadOffset(int lane, int warp)
    : offset_(8 * warp + lane / 4, mma::entry_of<S, mma::Operand::b>(lane, 0).row)
  {}
  /// Of element e in a step and round. Elements beyond N are some others of the line: the matrix is zero there.
  constexpr int at(int round, int step, int e) const
  {
    const int entry = (step * S::k + mma::entry_of<S, mma::Operand::b>(0, e).row) % Tile::n;
    return offset_.at(8 * Tile::warps * round, entry);
  }

private:
  static constexpr int find_entries()
  {
    int entries = 0;
    for (int lane = 0; lane < 4; ++lane)
      entries |= mma::entry_of<S, mma::Operand::b>(lane, 0).row;
    return entries;
  }
  LaneOffset<Tile, d, 8 * Tile::warps - 1, find_entries()> offset_;
};

/// For a lane of a warp writing accumulators: lines 8 warp + 2 t + v, entry g.
template <typename Tile, int d>
class WriteOffset
{
public:
  constexpr WriteOffset(int lane, int warp)
    : offset_(8 * warp + lane % 4 * 2, lane / 4)
  {}
  /// Of entry i + g, i = 0 or 8.
  constexpr int at(int round, int i, int v) const
  {
    return offset_.at(8 * Tile::warps * round + v, i);
  }

private:
  LaneOffset<Tile, d, 8 * Tile::warps - 2, 7> offset_;
};

/// How the rows of the two constant matrices M, S (n x n) of a direction are cut into operands A of m rows.
template <typename S, int n>
struct StagedRows
{
  /// M and S fit above each other into one operand.
  static constexpr bool stacked = 2 * n <= S::m;
  static constexpr int tiles = stacked ? 1 : (n + S::m - 1) / S::m; ///< per matrix, or of both
  static constexpr int steps = (n + S::k - 1) / S::k;
};
} // namespace tensormg::tensor
