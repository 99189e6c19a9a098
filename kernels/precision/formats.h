// Rounding to the formats that tensor cores multiply, bit for bit, at compile time too.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/core/half.h"
#include "kernels/mma/tf32.h"

namespace tensormg::precision
{
/// bfloat16: the upper half of a float, 8 bits of exponent and 7 of mantissa. To nearest, ties to even, as
/// PTX's cvt.rn.bf16.f32; NaN stays NaN.
struct Bf16
{
  std::uint16_t bits;

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

/// The nearest number of the format, as a float.
constexpr float to_fp16(float value)
{
  return Half::to_float_portable(Half::from_float_portable(value));
}
constexpr float to_bf16(float value) { return static_cast<float>(Bf16::round(value)); }
constexpr float to_tf32(float value) { return static_cast<float>(Tf32::round(value)); }

// Ties, and what lies beside them: 1 + 2^-11 is between two numbers of FP16 and of TF32, 1 + 2^-8 of BF16.
static_assert(to_fp16(1.F + 0x1p-11F) == 1.F && to_fp16(1.F + 0x1.8p-10F) == 1.F + 0x1p-9F);
static_assert(to_tf32(1.F + 0x1p-11F) == 1.F + 0x1p-10F); // away from zero
static_assert(to_bf16(1.F + 0x1p-8F) == 1.F && to_bf16(1.F + 0x1.8p-7F) == 1.F + 0x1p-6F);
static_assert(to_bf16(-(1.F + 0x1.02p-8F)) == -(1.F + 0x1p-7F));
} // namespace tensormg::precision
