// Where the copy engine puts a cell when it permutes the pieces of rows (BoxLayout::swizzled_64, swizzled_128).
#pragma once

namespace tensormg::laplace
{
/// Position, in bytes, of a cell in lines of `row_bytes` / 2 halves. In lines of 128 bytes piece c (of 16 bytes) of
/// line r lies where piece c xor (r mod 8) would be, in lines of 64 bytes where piece c xor (r / 2 mod 4) would be;
/// so eight lines at the same cells lie in different banks. The first line is aligned to the period.
template <int row_bytes>
struct SwizzledRows
{
  static_assert(row_bytes == 64 || row_bytes == 128);
  /// The permutation is one of addresses and repeats after so many bytes.
  static constexpr int period = 8 * row_bytes;
  /// Exclusive or with at() where the first line is half a period behind one that is aligned.
  static constexpr int half_period = row_bytes / 2;
  static constexpr int at(int line, int cell)
  {
    const int mask = row_bytes == 128 ? line % 8 : line / 2 % 4;
    return row_bytes * line + 16 * ((cell / 8) ^ mask) + 2 * (cell % 8);
  }

  /// Eight lines in a row, read by ldmatrix at the same cells, touch every bank once.
  static constexpr bool free_of_bank_conflicts()
  {
    for (int first = 0; first < 8; ++first)
      for (int cell = 0; cell < row_bytes / 2; cell += 8)
      {
        unsigned pieces = 0;
        for (int line = first; line < first + 8; ++line)
          pieces |= 1u << at(line, cell) / 16 % 8;
        if (pieces != 0xffu)
          return false;
      }
    return true;
  }
};
static_assert(SwizzledRows<64>::free_of_bank_conflicts());
static_assert(SwizzledRows<128>::free_of_bank_conflicts());
} // namespace tensormg::laplace
