// ldmatrix: 8 x 8 matrices of 16-bit elements from shared memory into fragments, one 32-bit register
// per matrix. Lanes 8 i ... 8 i + 7 name the eight 16-byte rows of matrix i.
//
//   plain        lane receives elements 2 t, 2 t + 1 of row g
//   transposed   lane receives rows 2 t, 2 t + 1 of column g          (16-bit elements only)
//
// With 32-bit elements a row is four of them, and the plain form gives lane element t of row g.
// Which rows the lanes must name so that the registers become a fragment follows from where the
// memory has its consecutive elements:
//
//   memory of A [i][k], of B [k][n]     A plain       B transposed
//   memory of A [k][i], of B [n][k]     A transposed  B plain
//
// Source: PTX ISA, "Warp-level matrix instructions: ldmatrix". There is no form for double.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "kernels/mma/fragment_maps.h"

namespace tensormg::mma
{
enum class LdmatrixForm : std::uint8_t
{
  plain,
  transposed
};

/// Does ldmatrix fill this operand?
template <typename S, Operand operand>
constexpr bool has_ldmatrix(LdmatrixForm form)
{
  using Element = typename OperandOf<S, operand>::Element;
  if (operand == Operand::c)
    return false;
  return has_16_bits<Element> || (std::is_same_v<Element, Tf32> && form == LdmatrixForm::plain);
}

/// Elements in a row of 16 bytes.
template <typename S, Operand operand>
inline constexpr int ldmatrix_row_elements = 16 /
    static_cast<int>(sizeof(typename OperandOf<S, operand>::Element));

/// The entry of the operand at which `lane` must point: the first of its row of 16 bytes. Lanes
/// beyond 8 n_registers name nothing: their entries repeat those of the first lanes.
template <typename S, Operand operand>
constexpr Entry ldmatrix_row(LdmatrixForm form, int lane)
{
  using O = OperandOf<S, operand>;
  const int matrix = lane / 8 % O::n_registers;
  Entry entry = entry_of<S, operand>(0, matrix * O::elements_per_register);
  // In the plain form the rows in memory are rows of A, columns of B.
  const bool rows_of_operand = (operand == Operand::a) == (form == LdmatrixForm::plain);
  (rows_of_operand ? entry.row : entry.column) += lane % 8;
  return entry;
}

/// The entry of the operand that `lane` receives as `element`, by the definition of ldmatrix.
template <typename S, Operand operand>
constexpr Entry ldmatrix_entry(LdmatrixForm form, int lane, int element)
{
  using O = OperandOf<S, operand>;
  const int per_register = O::elements_per_register;
  const int matrix = element / per_register;
  const int g = lane / 4;
  const int consecutive = per_register * (lane % 4) + element % per_register;
  const int memory_row = form == LdmatrixForm::plain ? g : consecutive;
  const int memory_column = form == LdmatrixForm::plain ? consecutive : g;
  Entry entry = ldmatrix_row<S, operand>(form, 8 * matrix + memory_row);
  const bool rows_of_operand = (operand == Operand::a) == (form == LdmatrixForm::plain);
  (rows_of_operand ? entry.column : entry.row) += memory_column;
  return entry;
}

/// Proof that ldmatrix with the rows above fills the fragment.
template <typename S, Operand operand>
consteval bool ldmatrix_fills(LdmatrixForm form)
{
  for (int lane = 0; lane < warp_size; ++lane)
    for (int element = 0; element < OperandOf<S, operand>::n_elements; ++element)
      if (!(ldmatrix_entry<S, operand>(form, lane, element) == entry_of<S, operand>(lane, element)))
        return false;
  return true;
}

template <typename... S>
consteval bool ldmatrix_fills_all(ShapeList<S...>)
{
  bool result = true;
  for (const LdmatrixForm form : {LdmatrixForm::plain, LdmatrixForm::transposed})
    result = result &&
        ((!has_ldmatrix<S, Operand::a>(form) || ldmatrix_fills<S, Operand::a>(form)) && ...) &&
        ((!has_ldmatrix<S, Operand::b>(form) || ldmatrix_fills<S, Operand::b>(form)) && ...);
  return result;
}
static_assert(ldmatrix_fills_all(AllShapes()));
} // namespace tensormg::mma
