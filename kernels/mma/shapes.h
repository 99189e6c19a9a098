// The mma.sync instructions that the kernels use, as types: D = A B + C with A m x k, B k x n,
// C and D m x n, computed by the 32 lanes of one warp.
//
//   type                       PTX (mma.sync.aligned. ... .row.col)   capability
//   M8N8K4<double>             m8n8k4.f64.f64.f64.f64                 8.0
//   M16N8K4<double>            m16n8k4.f64.f64.f64.f64                9.0
//   M16N8K8<double>            m16n8k8.f64.f64.f64.f64                9.0
//   M16N8K16<double>           m16n8k16.f64.f64.f64.f64               9.0
//   M16N8K4<Tf32>, M16N8K8     m16n8k*.f32.tf32.tf32.f32              8.0
//   M16N8K8<Half>, M16N8K16    m16n8k*.f32.f16.f16.f32                8.0
//   M16N8K8<Bf16>, M16N8K16    m16n8k*.f32.bf16.bf16.f32              8.0
//
// Source: PTX ISA, "Warp-level matrix instructions: mma".
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/core/half.h"
#include "kernels/mma/bf16.h"
#include "kernels/mma/tf32.h"

namespace tensormg::mma
{
inline constexpr int warp_size = 32;

/// A matrix of the instruction; c is the accumulator, C as well as D.
enum class Operand : std::uint8_t
{
  a, ///< m x k
  b, ///< k x n
  c  ///< m x n
};

/// Two of them share a register.
template <typename Multiplicand>
inline constexpr bool has_16_bits =
    std::is_same_v<Multiplicand, Half> || std::is_same_v<Multiplicand, Bf16>;

/// Does mma.sync have this shape for this multiplicand (among those used here)?
template <typename Multiplicand>
constexpr bool shape_exists(int m, int n, int k)
{
  if (n != 8)
    return false;
  if constexpr (std::is_same_v<Multiplicand, double>)
    return (m == 8 && k == 4) || (m == 16 && (k == 4 || k == 8 || k == 16));
  else if constexpr (std::is_same_v<Multiplicand, Tf32>)
    return m == 16 && (k == 4 || k == 8);
  else if constexpr (has_16_bits<Multiplicand>)
    return m == 16 && (k == 8 || k == 16);
  else
    return false;
}

/// One instruction.
template <int m_, int n_, int k_, typename Multiplicand_>
struct Shape
{
  static_assert(shape_exists<Multiplicand_>(m_, n_, k_), "mma.sync has no such shape");

  static constexpr int m = m_;
  static constexpr int n = n_;
  static constexpr int k = k_;
  using Multiplicand = Multiplicand_;
  /// double for double, float for Tf32, Half and Bf16.
  using Accumulator = std::conditional_t<std::is_same_v<Multiplicand, double>, double, float>;

  /// Multiplications and additions of one instruction.
  static constexpr int flops = 2 * m * n * k;
  /// Compute capability times ten that has the instruction.
  static constexpr int min_capability = std::is_same_v<Multiplicand, double> && m == 16 ? 90 : 80;
};

template <typename Multiplicand>
using M8N8K4 = Shape<8, 8, 4, Multiplicand>;
template <typename Multiplicand>
using M16N8K4 = Shape<16, 8, 4, Multiplicand>;
template <typename Multiplicand>
using M16N8K8 = Shape<16, 8, 8, Multiplicand>;
template <typename Multiplicand>
using M16N8K16 = Shape<16, 8, 16, Multiplicand>;

template <typename... S>
struct ShapeList
{};
using AllShapes = ShapeList<M8N8K4<double>, M16N8K4<double>, M16N8K8<double>, M16N8K16<double>,
    M16N8K4<Tf32>, M16N8K8<Tf32>, M16N8K8<Half>, M16N8K16<Half>, M16N8K8<Bf16>, M16N8K16<Bf16>>;

/// Size, element and registers of one operand. A register is one operand of the PTX instruction:
/// a double, a float, or 32 bits with one Tf32 or two Half or Bf16 (the lower half first).
template <typename S, Operand operand>
struct OperandOf
{
  static constexpr int rows = operand == Operand::b ? S::k : S::m;
  static constexpr int columns = operand == Operand::a ? S::k : S::n;
  using Element =
      std::conditional_t<operand == Operand::c, typename S::Accumulator, typename S::Multiplicand>;
  using Register = std::conditional_t<std::is_floating_point_v<Element>, Element, std::uint32_t>;

  static constexpr int n_elements = rows * columns / warp_size; ///< per lane
  static constexpr int elements_per_register = has_16_bits<Element> ? 2 : 1;
  static constexpr int n_registers = n_elements / elements_per_register; ///< per lane
};
} // namespace tensormg::mma
