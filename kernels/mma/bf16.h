// BF16 (bfloat16), the upper half of a float: sign, 8 bits of exponent, 7 of mantissa.
#pragma once

#include <bit>
#include <cstdint>

namespace tensormg
{
/// Same range as float, unit roundoff 2^-8.
struct Bf16
{
  std::uint16_t bits;

  /// To nearest, ties to even, as PTX's cvt.rn.bf16.f32; NaN stays NaN.
  static constexpr Bf16 round(float value)
  {
    const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
    if ((word & 0x7fffffffu) > 0x7f800000u)
      return {static_cast<std::uint16_t>((word >> 16) | 0x40u)};
    const std::uint32_t odd = (word >> 16) & 1u;
    return {static_cast<std::uint16_t>((word + 0x7fffu + odd) >> 16)}; // may carry up to infinity
  }

  explicit constexpr operator float() const
  {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};
} // namespace tensormg
