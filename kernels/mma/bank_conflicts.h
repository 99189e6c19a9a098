// How often one access of a warp occupies shared memory, counted at compile time.
//
// Model. Shared memory has 32 banks of 4 bytes; a wavefront serves every bank once. An access of 4
// bytes (or fewer) per lane is one group of 32 lanes, of 8 bytes two half-warps, of 16 bytes four
// quarter-warps (lanes 0-7, 8-15, ...); ldmatrix reads one 8 x 8 matrix per group. Groups are served
// one after the other. Within a group each bank delivers one 4-byte word per wavefront, to all lanes
// that want that word (broadcast); so a group takes as many wavefronts as the fullest bank has
// different words. Conflicts are the wavefronts beyond one per group.
//
// The hardware may need fewer: where lanes n and n ^ 1 (or n and n ^ 2) want the same address, for all
// n, it serves two groups at once. The counts are confirmed by the profiler (docs/performance/bank-conflicts-h200.json).
//
// Source: CUDA C++ programming guide, "Shared memory" of compute capability 5.x and later; the groups,
// and that conflicts are the wavefronts beyond 1, 2 or 4, from NVIDIA's developer forum (threads
// 359822, 77228). Tests: tests/kernels/mma/layout_test.cc.
#pragma once

#include <array>
#include <cstddef>

#include "kernels/mma/ldmatrix_maps.h"
#include "kernels/mma/shared_layout.h"

namespace tensormg::mma
{
inline constexpr int n_banks = 32;
inline constexpr int bank_bytes = 4;

/// Byte address of each lane, relative to a start that is a multiple of 128 bytes.
using Addresses = std::array<int, warp_size>;
inline constexpr int inactive = -1; ///< of a lane that takes no part

/// Addresses function(lane) of an access that is no fragment's.
template <typename Function>
constexpr Addresses make_addresses(Function function)
{
  Addresses addresses{};
  for (int lane = 0; lane < warp_size; ++lane)
    addresses[static_cast<std::size_t>(lane)] = function(lane);
  return addresses;
}

/// Cost of an access, or of several after another.
struct Wavefronts
{
  int count = 0;
  int ideal = 0; ///< the groups with an active lane

  constexpr int conflicts() const { return count - ideal; }
  constexpr Wavefronts &operator+=(const Wavefronts &other)
  {
    count += other.count;
    ideal += other.ideal;
    return *this;
  }
  constexpr bool operator==(const Wavefronts &) const = default;
};

namespace internal
{
  /// Different words in the fullest bank, of lanes [first, last).
  constexpr int fullest_bank(const Addresses &addresses, int first, int last, int bytes)
  {
    std::array<std::array<int, warp_size>, n_banks> words{}; // the different words of each bank
    std::array<int, n_banks> n_words{};
    int fullest = 0;
    for (int lane = first; lane < last; ++lane)
    {
      const int address = addresses[static_cast<std::size_t>(lane)];
      if (address == inactive)
        continue;
      for (int word = address / bank_bytes; word * bank_bytes < address + bytes; ++word)
      {
        const std::size_t bank = static_cast<std::size_t>(word % n_banks);
        int i = 0;
        while (i < n_words[bank] && words[bank][static_cast<std::size_t>(i)] != word)
          ++i;
        if (i == n_words[bank])
          words[bank][static_cast<std::size_t>(n_words[bank]++)] = word;
        fullest = n_words[bank] > fullest ? n_words[bank] : fullest;
      }
    }
    return fullest;
  }
} // namespace internal

/// One load or store of `bytes` (1, 2, 4, 8 or 16) per lane. Addresses must be multiples of it.
constexpr Wavefronts wavefronts(const Addresses &addresses, int bytes)
{
  const int group = bytes <= bank_bytes ? warp_size : n_banks * bank_bytes / bytes;
  Wavefronts result;
  for (int first = 0; first < warp_size; first += group)
  {
    const int count = internal::fullest_bank(addresses, first, first + group, bytes);
    result += {count, count > 0 ? 1 : 0};
  }
  return result;
}

/// Whether every active lane's address is a multiple of `bytes`, as the hardware demands.
constexpr bool is_aligned(const Addresses &addresses, int bytes)
{
  for (const int address : addresses)
    if (address != inactive && (address < 0 || address % bytes != 0))
      return false;
  return true;
}

/// Addresses of one access of a fragment: the lanes' element number `element`, in a tile of the operand's
/// rows and columns that starts at (row, column) of the layout.
template <typename S, Operand operand, typename Layout>
constexpr Addresses fragment_addresses(Layout layout, int element, Entry start = {0, 0})
{
  return make_addresses([&](int lane) {
    const Entry entry = entry_of<S, operand>(lane, element);
    return layout(start.row + entry.row, start.column + entry.column) *
        static_cast<int>(sizeof(typename OperandOf<S, operand>::Element));
  });
}

/// Loading (or storing) a whole fragment with accesses of `width` elements that follow one another in
/// the fragment and in memory: 1; 2 for pairs of accumulators or of Half. Count is -1 where the
/// layout does not have them side by side and aligned.
template <typename S, Operand operand, int width = 1, typename Layout = void>
constexpr Wavefronts fragment_wavefronts(Layout layout, Entry start = {0, 0})
{
  using O = OperandOf<S, operand>;
  static_assert(O::n_elements % width == 0);
  constexpr int bytes = static_cast<int>(sizeof(typename O::Element));
  Wavefronts result;
  for (int element = 0; element < O::n_elements; element += width)
  {
    const Addresses first = fragment_addresses<S, operand>(layout, element, start);
    for (int i = 1; i < width; ++i)
    {
      const Addresses next = fragment_addresses<S, operand>(layout, element + i, start);
      for (std::size_t lane = 0; lane < first.size(); ++lane)
        if (next[lane] != first[lane] + i * bytes)
          return {-1, 0};
    }
    if (!is_aligned(first, width * bytes))
      return {-1, 0};
    result += wavefronts(first, width * bytes);
  }
  return result;
}

/// Addresses that the lanes pass to the ldmatrix which loads the operand from a tile at `start`.
template <typename S, Operand operand, typename Layout>
constexpr Addresses ldmatrix_addresses(Layout layout, LdmatrixForm form, Entry start = {0, 0})
{
  return make_addresses([&](int lane) {
    const Entry entry = ldmatrix_row<S, operand>(form, lane);
    return lane < 8 * OperandOf<S, operand>::n_registers
        ? layout(start.row + entry.row, start.column + entry.column) *
            static_cast<int>(sizeof(typename OperandOf<S, operand>::Element))
        : inactive;
  });
}

/// That ldmatrix: 16 bytes per active lane, one 8 x 8 matrix per quarter-warp. Count is -1 where the
/// 16-byte rows are not in one piece.
template <typename S, Operand operand, typename Layout>
constexpr Wavefronts ldmatrix_wavefronts(Layout layout, LdmatrixForm form, Entry start = {0, 0})
{
  using O = OperandOf<S, operand>;
  constexpr int bytes = static_cast<int>(sizeof(typename O::Element));
  const Addresses addresses = ldmatrix_addresses<S, operand>(layout, form, start);
  for (int lane = 0; lane < 8 * O::n_registers; ++lane)
    for (int i = 0; i < ldmatrix_row_elements<S, operand>; ++i)
    {
      Entry entry = ldmatrix_row<S, operand>(form, lane);
      // Along k in the plain form, across it in the transposed one.
      const bool along_column = (operand == Operand::a) == (form == LdmatrixForm::plain);
      (along_column ? entry.column : entry.row) += i;
      if (layout(start.row + entry.row, start.column + entry.column) * bytes !=
          addresses[static_cast<std::size_t>(lane)] + i * bytes)
        return {-1, 0};
    }
  return is_aligned(addresses, 16) ? wavefronts(addresses, 16) : Wavefronts{-1, 0};
}
} // namespace tensormg::mma
