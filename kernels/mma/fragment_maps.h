// Which lane holds which matrix entry, for each shape and operand, and the inverse. A is "row", B is
// "col" in the instruction's name: how PTX counts the registers, not how memory must look.
//
// With g = lane / 4 (PTX: groupID) and t = lane % 4 (threadID_in_group), element e of a lane is
//
//   multiplicand   A                                                 B
//   double, Tf32   A[g + 8 (e % (m/8))][t + 4 (e / (m/8))]           B[t + 4 e][g]
//   Half, Bf16     A[g + 8 (e/2 % 2)][2 t + e%2 + 8 (e/4)]           B[2 t + e%2 + 8 (e/2)][g]
//
// and always C[g + 8 (e/2)][2 t + e%2].
//
// Source: PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f64", "... mma.m16n8k4", "... mma.m16n8k8",
// "... mma.m16n8k16 with floating point type". Tests: tests/kernels/mma/fragment_test.cc (against
// those tables), tests/kernels/mma/device_test.cu (against the hardware).
#pragma once

#include "kernels/mma/shapes.h"

namespace tensormg::mma
{
struct Entry
{
  int row;
  int column;
  constexpr bool operator==(const Entry &) const = default;
};

struct Holder
{
  int lane;
  int element;
  constexpr bool operator==(const Holder &) const = default;
};

/// The entry that `lane` holds as its element number `element`.
template <typename S, Operand operand>
constexpr Entry entry_of(int lane, int element)
{
  const int g = lane / 4;
  const int t = lane % 4;
  constexpr bool packed = OperandOf<S, operand>::elements_per_register == 2;
  constexpr int row_blocks = S::m / 8;
  if constexpr (operand == Operand::c)
    return {g + 8 * (element / 2), 2 * t + element % 2};
  else if constexpr (operand == Operand::a && packed)
    return {g + 8 * (element / 2 % 2), 2 * t + element % 2 + 8 * (element / 4)};
  else if constexpr (operand == Operand::a)
    return {g + 8 * (element % row_blocks), t + 4 * (element / row_blocks)};
  else if constexpr (packed)
    return {2 * t + element % 2 + 8 * (element / 2), g};
  else
    return {t + 4 * element, g};
}

/// Where entry (row, column) is held: the inverse of entry_of.
template <typename S, Operand operand>
constexpr Holder holder_of(Entry entry)
{
  const auto [row, column] = entry;
  constexpr bool packed = OperandOf<S, operand>::elements_per_register == 2;
  constexpr int row_blocks = S::m / 8;
  if constexpr (operand == Operand::c)
    return {4 * (row % 8) + column / 2, column % 2 + 2 * (row / 8)};
  else if constexpr (operand == Operand::a && packed)
    return {4 * (row % 8) + column % 8 / 2, column % 2 + 2 * (row / 8) + 4 * (column / 8)};
  else if constexpr (operand == Operand::a)
    return {4 * (row % 8) + column % 4, row / 8 + row_blocks * (column / 4)};
  else if constexpr (packed)
    return {4 * column + row % 8 / 2, row % 2 + 2 * (row / 8)};
  else
    return {4 * column + row % 4, row / 4};
}

/// Proof that the two maps are inverse to each other, hence bijections: every (lane, element) has an
/// entry in range and comes back from it, and there are as many pairs as entries.
template <typename S, Operand operand>
consteval bool is_bijection()
{
  using O = OperandOf<S, operand>;
  for (int lane = 0; lane < warp_size; ++lane)
    for (int element = 0; element < O::n_elements; ++element)
    {
      const Entry entry = entry_of<S, operand>(lane, element);
      if (entry.row < 0 || entry.row >= O::rows || entry.column < 0 || entry.column >= O::columns)
        return false;
      if (!(holder_of<S, operand>(entry) == Holder{lane, element}))
        return false;
    }
  return warp_size * O::n_elements == O::rows * O::columns;
}

template <typename... S>
consteval bool are_bijections(ShapeList<S...>)
{
  return ((is_bijection<S, Operand::a>() && is_bijection<S, Operand::b>() &&
              is_bijection<S, Operand::c>()) &&
      ...);
}
static_assert(are_bijections(AllShapes()));
} // namespace tensormg::mma
