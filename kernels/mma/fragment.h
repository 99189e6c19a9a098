// One lane's part of a matrix operand, and the primitives that build and edit it without shared
// memory: the callback is told which entry of the matrix each register holds.
//
//   auto identity = make_fragment<S, Operand::a>(lane, [](int i, int j) { return i == j ? 1. : 0.; });
//   foreach_ij(sum, lane, [&](int i, int j, double &value) { value *= scale[i]; });
//
// On the device, lane = threadIdx.x % 32; on the host, a loop over 32 lanes emulates the warp. The
// indices are compile-time constants up to the lane, so that fragments stay in registers.
//
// Source of the idea: foreach_ij and map of WMMAe, H. Ootomo and R. Yokota, Reducing shared memory
// footprint to leverage high throughput on Tensor Cores and its flexible API extension library, 2023.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/mma/fragment_maps.h"

namespace tensormg::mma
{
/// The registers of one lane, in the order of the PTX instruction.
template <typename S_, Operand operand_>
struct Fragment
{
  using S = S_;
  static constexpr Operand operand = operand_;
  using Traits = OperandOf<S, operand>;
  using Element = typename Traits::Element;
  using Register = typename Traits::Register;
  static constexpr int n_elements = Traits::n_elements;
  static constexpr int n_registers = Traits::n_registers;

  Register registers[n_registers];

  constexpr Element get(int element) const
  {
    if constexpr (Traits::elements_per_register == 2)
      return std::bit_cast<Element>(
          static_cast<std::uint16_t>(registers[element / 2] >> (16 * (element % 2))));
    else
      return std::bit_cast<Element>(registers[element]);
  }

  constexpr void set(int element, Element value)
  {
    if constexpr (Traits::elements_per_register == 2)
    {
      const std::uint32_t bits = std::bit_cast<std::uint16_t>(value);
      const std::uint32_t other = registers[element / 2] & (element % 2 ? 0xffffu : 0xffff0000u);
      registers[element / 2] = other | bits << (16 * (element % 2));
    }
    else
      registers[element] = std::bit_cast<Register>(value);
  }
};

template <typename S>
using FragmentA = Fragment<S, Operand::a>;
template <typename S>
using FragmentB = Fragment<S, Operand::b>;
/// Accumulators: C and D.
template <typename S>
using FragmentC = Fragment<S, Operand::c>;

namespace internal
{
  template <typename F, typename Function>
  constexpr void edit(F &fragment, int lane, int element, Function &function)
  {
    const Entry entry = entry_of<typename F::S, F::operand>(lane, element);
    typename F::Element value = fragment.get(element);
    function(entry.row, entry.column, value);
    fragment.set(element, value);
  }

  template <typename F, typename Function>
  constexpr void read(const F &fragment, int lane, int element, Function &function)
  {
    const Entry entry = entry_of<typename F::S, F::operand>(lane, element);
    const typename F::Element value = fragment.get(element);
    function(entry.row, entry.column, value);
  }

  template <typename F, typename Function, std::size_t... elements>
  constexpr void edit_all(
      F &fragment, int lane, Function &function, std::index_sequence<elements...>)
  {
    (edit(fragment, lane, static_cast<int>(elements), function), ...);
  }

  template <typename F, typename Function, std::size_t... elements>
  constexpr void read_all(
      const F &fragment, int lane, Function &function, std::index_sequence<elements...>)
  {
    (read(fragment, lane, static_cast<int>(elements), function), ...);
  }

  template <typename F, typename Function, std::size_t... elements>
  constexpr void map_all(
      F &fragment, int lane, Function &function, std::index_sequence<elements...>)
  {
    (fragment.set(static_cast<int>(elements),
         function(entry_of<typename F::S, F::operand>(lane, static_cast<int>(elements)).row,
             entry_of<typename F::S, F::operand>(lane, static_cast<int>(elements)).column)),
        ...);
  }
} // namespace internal

/// function(row, column, value) for every element that `lane` holds, in the order of the registers;
/// `value` may be taken by reference and changed.
template <typename S, Operand operand, typename Function>
constexpr void foreach_ij(Fragment<S, operand> &fragment, int lane, Function function)
{
  internal::edit_all(
      fragment, lane, function, std::make_index_sequence<Fragment<S, operand>::n_elements>());
}

/// The same without changing anything.
template <typename S, Operand operand, typename Function>
constexpr void foreach_ij(const Fragment<S, operand> &fragment, int lane, Function function)
{
  internal::read_all(
      fragment, lane, function, std::make_index_sequence<Fragment<S, operand>::n_elements>());
}

/// Every element that `lane` holds becomes function(row, column).
template <typename S, Operand operand, typename Function>
constexpr void map(Fragment<S, operand> &fragment, int lane, Function function)
{
  internal::map_all(
      fragment, lane, function, std::make_index_sequence<Fragment<S, operand>::n_elements>());
}

/// The fragment of the matrix with entries function(row, column).
template <typename S, Operand operand, typename Function>
constexpr Fragment<S, operand> make_fragment(int lane, Function function)
{
  Fragment<S, operand> fragment{};
  map(fragment, lane, function);
  return fragment;
}
} // namespace tensormg::mma
