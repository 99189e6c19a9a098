// IEEE binary16 as a storage type: arithmetic happens in float.
#pragma once

#include <bit>
#include <cstdint>

namespace tensormg
{
/// Sixteen bits with the layout of IEEE 754 binary16 (and of CUDA's __half). Round to nearest even;
/// values beyond 65504 become infinity, values below 2^-24 become zero.
struct Half
{
  std::uint16_t bits;

#if defined(__F16C__)
  // By the compiler's functions: <immintrin.h> is half of what nvcc would have to read, three times per file.
  using Floats = float __attribute__((vector_size(16)));
  using Halves = short __attribute__((vector_size(16)));
#endif

  Half() = default;
  explicit Half(float value)
    : bits(from_float(value))
  {}
  explicit operator float() const { return to_float(bits); }

  static std::uint16_t from_float(float value)
  {
#if defined(__F16C__)
    return static_cast<std::uint16_t>(__builtin_ia32_vcvtps2ph(Floats{value, 0, 0, 0}, 0)[0]);
#else
    return from_float_portable(value);
#endif
  }

  static float to_float(std::uint16_t half)
  {
#if defined(__F16C__)
    return __builtin_ia32_vcvtph2ps(Halves{static_cast<short>(half), 0, 0, 0, 0, 0, 0, 0})[0];
#else
    return to_float_portable(half);
#endif
  }

  static constexpr std::uint16_t from_float_portable(float value)
  {
    const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (word >> 16) & 0x8000u;
    const std::uint32_t magnitude = word & 0x7fffffffu;
    if (magnitude > 0x7f800000u) // NaN stays NaN
      return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
    if (magnitude >= 0x477ff000u) // 65520 and more round to infinity
      return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (magnitude < 0x33000001u) // at most half of the smallest subnormal
      return static_cast<std::uint16_t>(sign);
    const std::uint32_t exponent = magnitude >> 23;
    const std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    const bool normal = exponent >= 113;
    // Number of low mantissa bits that binary16 cannot hold.
    const std::uint32_t shift = normal ? 13u : 126u - exponent;
    std::uint32_t result = mantissa >> shift;
    const std::uint32_t rest = mantissa & ((1u << shift) - 1u);
    const std::uint32_t tie = 1u << (shift - 1u);
    if (rest > tie || (rest == tie && (result & 1u)))
      ++result; // may carry into the exponent, which is then right as well
    if (normal)
      result += (exponent - 113u) << 10; // the implicit bit adds the remaining 1 << 10
    return static_cast<std::uint16_t>(sign | result);
  }

  static constexpr float to_float_portable(std::uint16_t half)
  {
    const std::uint32_t sign = (half & 0x8000u) << 16;
    const std::uint32_t exponent = (half >> 10) & 0x1fu;
    const std::uint32_t mantissa = half & 0x3ffu;
    if (exponent == 0x1fu)
      return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
    if (exponent == 0)
    {
      const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
      return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
    }
    return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  }
};

/// The type in which a stored number is computed with: float for Half, otherwise itself.
template <typename Number>
struct ComputeType
{
  using type = Number;
};
template <>
struct ComputeType<Half>
{
  using type = float;
};
template <typename Number>
using Compute = typename ComputeType<Number>::type;
} // namespace tensormg
