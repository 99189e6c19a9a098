// The result of one product as an operand of the next, in the same lanes: no shuffle, no shared
// memory. It works because a sum over k may run in any order. Let X = [D0 D1] be m x 8 or m x 16,
// made of one or two accumulator tiles. Then
//
//   E = X V     A = a_from_accumulators(X),  B[k][n] = V[source_column(step, k)][n]
//   E = U X^T   A[i][k] = U[i][source_column(step, k)],  B = b_from_accumulators(X)
//
// where source_column is the order in which the lanes that hold X as accumulators need the columns:
//
//   shape              steps  tiles  source_column(step, k)
//   k4  double, Tf32     2      1    2 k + step
//   k8  double, Tf32     1      1    2 (k % 4) + k / 4
//   k16 double           1      2    8 (k / 8) + 2 (k % 4) + k / 4 % 2
//   k8  Half, Bf16       1      1    k
//   k16 Half, Bf16       1      2    k
//
// All steps together, each one mma_sync with the same accumulators, run over every column of X. The
// constant matrix (V or U) is built once in the permuted order, by make_fragment. That every element
// comes from the same lane, and from an element that is the same in all lanes, is proved below.
//
// Tests: tests/kernels/mma/fragment_test.cc.
#pragma once

#include <bit>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "kernels/mma/fragment.h"

namespace tensormg::mma
{
/// An accumulator as a multiplicand, portable: runs on host and device. Kernels pass a lambda with the
/// conversion instruction instead, e.g. [](float x) { return to_tf32(x); } (instructions.cuh).
template <typename Element>
struct RoundTo
{
  template <typename Number>
  constexpr Element operator()(Number value) const
  {
    if constexpr (std::is_same_v<Element, Tf32> || std::is_same_v<Element, Bf16>)
      return Element::round(static_cast<float>(value));
    else if constexpr (std::is_same_v<Element, Half>)
      return std::bit_cast<Half>(Half::from_float_portable(static_cast<float>(value)));
    else
      return static_cast<Element>(value);
  }
};

template <typename S>
inline constexpr bool is_packed = OperandOf<S, Operand::a>::elements_per_register == 2;

/// Instructions that it takes to run over the columns of X once.
template <typename S>
inline constexpr int n_chain_steps = S::k == 4 ? 2 : 1;

/// Accumulator tiles of 8 columns in X.
template <typename S>
inline constexpr int n_chain_tiles = S::k == 16 ? 2 : 1;

/// The column of X that stands at index k of the instruction in `step`.
template <typename S>
constexpr int source_column(int step, int k)
{
  if constexpr (is_packed<S>)
    return k;
  else if constexpr (S::k == 4)
    return 2 * k + step;
  else
    return 8 * (k / 8) + 2 * (k % 4) + k / 4 % 2;
}

namespace internal
{
  /// Tile, lane and element that hold what `lane` needs as `element` of the operand.
  struct Source
  {
    int tile;
    Holder holder;
  };

  /// For B, tile_row is the first row of X that becomes a column of B: 0 or 8.
  template <typename S, Operand operand>
  constexpr Source chain_source(int step, int tile_row, int lane, int element)
  {
    const Entry entry = entry_of<S, operand>(lane, element);
    const int k = operand == Operand::a ? entry.column : entry.row;
    const int row = operand == Operand::a ? entry.row : entry.column + tile_row;
    const int column = source_column<S>(step, k);
    return {column / 8, holder_of<S, Operand::c>({row, column % 8})};
  }

  /// Every lane finds its elements in itself, under an index that does not depend on the lane, and
  /// the steps together use every column of X once.
  template <typename S, Operand operand>
  consteval bool stays_in_lane()
  {
    for (int tile_row = 0; tile_row < (operand == Operand::b ? S::m : 8); tile_row += 8)
      for (int step = 0; step < n_chain_steps<S>; ++step)
        for (int lane = 0; lane < warp_size; ++lane)
          for (int element = 0; element < OperandOf<S, operand>::n_elements; ++element)
          {
            const Source source = chain_source<S, operand>(step, tile_row, lane, element);
            const Source first = chain_source<S, operand>(step, tile_row, 0, element);
            if (source.holder.lane != lane || source.holder.element != first.holder.element ||
                source.tile != first.tile || source.tile >= n_chain_tiles<S>)
              return false;
          }
    unsigned columns = 0;
    for (int step = 0; step < n_chain_steps<S>; ++step)
      for (int k = 0; k < S::k; ++k)
        columns |= 1u << source_column<S>(step, k);
    return columns == (1u << (8 * n_chain_tiles<S>)) - 1u;
  }

  template <typename... S>
  consteval bool stay_in_lane(ShapeList<S...>)
  {
    return ((stays_in_lane<S, Operand::a>() && stays_in_lane<S, Operand::b>()) && ...);
  }
  static_assert(stay_in_lane(AllShapes()));

  template <typename S, Operand operand, int step, int tile_row, int element, typename D, int n>
  constexpr typename D::Accumulator chained(const FragmentC<D> (&tiles)[n])
  {
    constexpr Source source = chain_source<S, operand>(step, tile_row, 0, element);
    return tiles[source.tile].get(source.holder.element);
  }

  template <typename S, Operand operand, int step, int tile_row, typename D, int n,
      typename Convert, std::size_t... elements>
  constexpr Fragment<S, operand> chain(
      const FragmentC<D> (&tiles)[n], Convert &convert, std::index_sequence<elements...>)
  {
    static_assert(n == n_chain_tiles<S>, "X has 8 columns per tile: k / 8 tiles, at least one");
    static_assert(D::m == S::m, "the tiles must come from an instruction with the same m");
    static_assert(step >= 0 && step < n_chain_steps<S>);
    Fragment<S, operand> fragment{};
    (fragment.set(static_cast<int>(elements),
         convert(chained<S, operand, step, tile_row, static_cast<int>(elements), D, n>(tiles))),
        ...);
    return fragment;
  }
} // namespace internal

/// A operand of step number `step` of E = X V; convert: accumulator of D -> multiplicand of S.
template <typename S, int step, typename D, int n,
    typename Convert = RoundTo<typename S::Multiplicand>>
constexpr FragmentA<S> a_from_accumulators(
    const FragmentC<D> (&tiles)[n], Convert convert = Convert())
{
  return internal::chain<S, Operand::a, step, 0>(
      tiles, convert, std::make_index_sequence<FragmentA<S>::n_elements>());
}

/// B operand of step number `step` of E = U X^T, columns [8 half, 8 half + 8) of X^T: an instruction
/// with m = 16 has half = 0 and 1, each with accumulators of its own.
template <typename S, int step, int half, typename D, int n,
    typename Convert = RoundTo<typename S::Multiplicand>>
constexpr FragmentB<S> b_from_accumulators(
    const FragmentC<D> (&tiles)[n], Convert convert = Convert())
{
  static_assert(half >= 0 && 8 * half < S::m);
  return internal::chain<S, Operand::b, step, 8 * half>(
      tiles, convert, std::make_index_sequence<FragmentB<S>::n_elements>());
}
} // namespace tensormg::mma
