// TF32, the 19-bit float that the tensor cores multiply: sign, 8 bits of exponent, 10 of mantissa,
// stored in the upper bits of a float.
#pragma once

#include <bit>
#include <cstdint>

namespace tensormg
{
/// A float whose 13 low mantissa bits are zero. Same range as float, unit roundoff 2^-11.
struct Tf32
{
  std::uint32_t bits;

  static constexpr std::uint32_t low_bits = 0x1fffu;

  /// To nearest, ties away from zero, as PTX's cvt.rna.tf32.f32; NaN becomes 0x7fffffff.
  static constexpr Tf32 round(float value)
  {
    const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = word & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
      return {0x7fffffffu};
    if (magnitude == 0x7f800000u)
      return {word};
    return {(word + 0x1000u) & ~low_bits}; // the carry may reach the exponent, up to infinity
  }

  /// Towards zero: cuts the low bits off.
  static constexpr Tf32 truncate(float value)
  {
    return {std::bit_cast<std::uint32_t>(value) & ~low_bits};
  }

  explicit constexpr operator float() const { return std::bit_cast<float>(bits); }
};
} // namespace tensormg
