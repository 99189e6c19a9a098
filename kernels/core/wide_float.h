// A number stored in FP32 with which one computes in FP64.
#pragma once

#include "kernels/core/half.h"

namespace tensormg
{
/// The bits of a float. It differs from float in what is computed with it: Compute<WideFloat> is double, so that
/// a sum of such numbers is rounded to FP32 once, in the end. For vectors whose entries may be rounded but whose
/// product with a matrix may not: rounding errors in the product of size |A| |x| 2^-24 exceed a small A x.
/// Conversion from double rounds to nearest even; values beyond the range of float become infinity.
struct WideFloat
{
  float value;

  WideFloat() = default;
  constexpr explicit WideFloat(double x)
    : value(static_cast<float>(x))
  {}
  constexpr explicit operator double() const { return value; }
};
static_assert(sizeof(WideFloat) == 4);

template <>
struct ComputeType<WideFloat>
{
  using type = double;
};
} // namespace tensormg
