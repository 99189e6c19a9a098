// In what products of a stored vector with a constant matrix are computed.
#pragma once

#include <cstdint>

namespace tensormg::tensor
{
/// Multiplicands and accumulator. A "two-term split" writes x as x0 + x1 with x0 the rounded x and x1 the
/// rounded rest, and drops x1 y1: three products, nearly the accuracy of FP32.
enum class Arithmetic : std::uint8_t
{
  fp64,
  fp32,
  tf32,   ///< TF32 multiplicands (11 bits), FP32 accumulators
  tf32x3, ///< the two-term split of it
  fp16,   ///< FP16 multiplicands (11 bits), FP32 accumulators
  fp16x3, ///< the two-term split of it, the rest scaled by 2^11 (H. Ootomo, R. Yokota, Int. J. High
          ///< Perform. Comput. Appl. 36, 2022); overflows where |x| > 65504
  fp16x2  ///< FP16 numbers as they are stored, the constant matrix as a sum of two: two products
};

/// Does it use the two-term split?
constexpr bool is_split(Arithmetic arithmetic)
{
  return arithmetic == Arithmetic::tf32x3 || arithmetic == Arithmetic::fp16x3;
}

/// What the second term of a split is multiplied by, so that it does not underflow in FP16.
constexpr float rest_scale(Arithmetic arithmetic)
{
  return arithmetic == Arithmetic::fp16x3 ? 2048.F : 1.F;
}

/// Unit roundoff of a multiplicand as it is used.
constexpr double roundoff(Arithmetic arithmetic)
{
  switch (arithmetic)
  {
    case Arithmetic::fp64:
      return 0x1p-53;
    case Arithmetic::fp32:
      return 0x1p-24;
    case Arithmetic::tf32:
    case Arithmetic::fp16:
      return 0x1p-11;
    case Arithmetic::tf32x3:
    case Arithmetic::fp16x3:
    case Arithmetic::fp16x2:
      return 0x1p-22;
  }
  return 0.;
}

constexpr const char *to_string(Arithmetic arithmetic)
{
  switch (arithmetic)
  {
    case Arithmetic::fp64:
      return "fp64";
    case Arithmetic::fp32:
      return "fp32";
    case Arithmetic::tf32:
      return "tf32";
    case Arithmetic::tf32x3:
      return "3xtf32";
    case Arithmetic::fp16:
      return "fp16";
    case Arithmetic::fp16x3:
      return "3xfp16";
    case Arithmetic::fp16x2:
      return "2xfp16";
  }
  return "unknown";
}
} // namespace tensormg::tensor
