// Where entry (row, column) of a tile lies in shared memory: constexpr maps to an element offset,
// composed at compile time and compared by the conflict counts of bank_conflicts.h.
//
//   RowMajor<ld>                    row ld + column; ld > columns is a padded layout
//   Rotated<n, step>                row n + (column + step row) % n
//   Transposed<Layout>              Layout(column, row)
//   Permuted<Layout, P, unit>       P on the offset of Layout, counted in elements of `unit` bytes
//
// Permutations P of offsets are XORs of higher bits into lower ones, hence invertible:
//
//   Swizzle<bits, base, shift>      x ^ (x >> shift & mask), mask = bits ones from bit `base` on
//   BitXor<{from, to}, ...>         x ^ (bit `from` of x) << to ^ ...
//
// Swizzle is written as in the tensor map of TMA: the hardware permutes 16-byte units of byte
// addresses in rows of 128 bytes,
//
//   address bits   ... 9 8 7 | 6 5 4 | 3 2 1 0
//   Swizzle128B        `-----^-----'            16-byte unit ^= row % 8      tiles of 128-byte rows
//   Swizzle64B           8 7 -> 5 4             16-byte unit ^= row / 2 % 4  tiles of  64-byte rows
//   Swizzle32B             7 -> 4               16-byte unit ^= row / 4 % 2  tiles of  32-byte rows
//
// so the tile must start at a multiple of 1024, 512 and 256 bytes (of the period of the pattern).
//
// Source: CUDA driver API, CUtensorMapSwizzle; PTX ISA, "Tensor swizzling modes".
// Tests: tests/kernels/mma/layout_test.cc.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

namespace tensormg::mma
{
/// row ld + column. With ld larger than the number of columns the rest of a row is padding.
template <int ld>
struct RowMajor
{
  static_assert(ld > 0);
  constexpr int operator()(int row, int column) const { return row * ld + column; }
};

/// Rows of n, row r rotated by step r: columns spread over the banks also where n is no power of two.
template <int n, int step = 1>
struct Rotated
{
  static_assert(n > 0 && step > 0);
  constexpr int operator()(int row, int column) const
  {
    return row * n + (column + step * row) % n;
  }
};

/// The layout of the transposed tile: column major.
template <typename Layout>
struct Transposed
{
  constexpr int operator()(int row, int column) const { return Layout()(column, row); }
};

/// XOR of the `bits` bits from bit base + shift on into those from bit `base` on.
template <int bits, int base, int shift>
struct Swizzle
{
  static_assert(bits > 0 && base >= 0 && shift >= bits, "the bits must come from above");
  constexpr int operator()(int offset) const
  {
    return offset ^ (offset >> shift & ((1 << bits) - 1) << base);
  }
};
using Swizzle32B = Swizzle<1, 4, 3>;
using Swizzle64B = Swizzle<2, 4, 3>;
using Swizzle128B = Swizzle<3, 4, 3>;

struct BitMove
{
  int from;
  int to;
};

/// XOR of single bits into lower ones. A triangular linear map over the field of two elements.
template <BitMove... moves>
struct BitXor
{
  static_assert(((moves.from > moves.to && moves.to >= 0) && ...), "bits move downwards");
  constexpr int operator()(int offset) const
  {
    int result = offset;
    ((result ^= (offset >> moves.from & 1) << moves.to), ...);
    return result;
  }
};

/// Permutation of the offsets of a layout; unit_bytes = 1 applies it to element offsets, the size of
/// the element to byte offsets. Elements must stay whole.
template <typename Layout, typename Permutation, int unit_bytes = 1>
struct Permuted
{
  constexpr int operator()(int row, int column) const
  {
    return Permutation()(Layout()(row, column) * unit_bytes) / unit_bytes;
  }
};

/// The tile that TMA writes with a swizzle mode: rows of 128, 64 or 32 bytes.
template <typename Element, typename Mode>
using TmaTile = Permuted<RowMajor<(std::is_same_v<Mode, Swizzle128B>         ? 128
                                          : std::is_same_v<Mode, Swizzle64B> ? 64
                                                                             : 32) /
                             static_cast<int>(sizeof(Element))>,
    Mode, static_cast<int>(sizeof(Element))>;

/// Tile of doubles with 8 or 16 columns in which no operand of the FP64 instructions has a conflict,
/// without padding, and in which pairs and (8 columns) quadruples of a row stay together:
///   8 columns    column bit 2 ^= row bit 1
///   16 columns   column bits 3, 2 ^= row bits 0, 1
/// Source: J. Cui, Acceleration of tensor-product operations with tensor cores, arXiv:2407.09621.
template <int columns>
requires(columns == 8 || columns == 16) using Fp64Tile =
    std::conditional_t<columns == 8, Permuted<RowMajor<8>, BitXor<BitMove{4, 2}>>,
        Permuted<RowMajor<16>, BitXor<BitMove{4, 3}, BitMove{5, 2}>>>;

/// Numbers that a tile occupies: one more than its largest offset.
template <typename Layout>
constexpr int extent(int rows, int columns)
{
  int largest = -1;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
    {
      const int offset = Layout()(row, column);
      largest = offset > largest ? offset : largest;
    }
  return largest + 1;
}

/// Proof that no two entries of a rows x columns tile share an offset.
template <typename Layout, int rows, int columns>
consteval bool is_injective()
{
  std::array<bool, static_cast<std::size_t>(extent<Layout>(rows, columns))> taken{};
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
    {
      const int offset = Layout()(row, column);
      if (offset < 0 || taken[static_cast<std::size_t>(offset)])
        return false;
      taken[static_cast<std::size_t>(offset)] = true;
    }
  return true;
}

/// Whether `width` neighbours in a row lie side by side and aligned, so that one access moves them.
template <typename Layout>
constexpr bool is_vectorizable(int rows, int columns, int width)
{
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column + width <= columns; column += width)
    {
      const int first = Layout()(row, column);
      if (first % width != 0)
        return false;
      for (int i = 1; i < width; ++i)
        if (Layout()(row, column + i) != first + i)
          return false;
    }
  return true;
}
} // namespace tensormg::mma
