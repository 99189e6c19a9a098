// CONTRACT of the products in low precision, emulated on the host: dot products of floats as the units of a
// GPU would form them.
//
//   method            factors                        sums
//   FP64              double                         double, to nearest
//   FP32              float                          float, FMA to nearest
//   TF32, FP16, BF16  rounded to the format          float, blocks of the adder in block_sum.h
//   FP16, RN          rounded to FP16                float, FMA to nearest: shows what the adder costs
//   3xTF32            big + small, three products    blocks, small products first
//   TF32 corrected    big + small, three products    big ones outside of the unit, to nearest
//   FP16 corrected    big + 2^-11 small, likewise    likewise
//   3xBF16            big + small, three products    blocks
//
// In a product of split factors small times small is dropped. Sources: H. Ootomo, R. Yokota, "Recovering
// single precision accuracy from tensor cores while surpassing the FP32 theoretical peak performance", IJHPCA
// 36 (2022), for `corrected`; CUTLASS' example 27 for 3xTF32.
// Tests: tests/kernels/diagnostics/precision/precision_test.cc.
#pragma once

#include <cstdint>
#include <span>

namespace tensormg::precision
{
struct Method
{
  const char *name;
  double
      factor_roundoff; ///< relative error of a factor, or of what is dropped of a product, at most
  double sum_roundoff; ///< relative error of an addition
  float smallest;      ///< factors of smaller magnitude lose more than that to underflow
  float largest;       ///< factors of larger magnitude become infinite
  double (*dot)(std::int64_t length, const float *a, const float *b);

  /// Of |computed - exact| / (|a| |b|), as long as no factor leaves the range: two factors per product and
  /// length + 1 additions, first order with a tenth for the rest.
  constexpr double bound(std::int64_t length) const
  {
    return 1.1 * (2. * factor_roundoff + static_cast<double>(length + 1) * sum_roundoff);
  }
};

/// THE table.
std::span<const Method> methods();

/// The dot product and |a| |b| with twice the digits of double.
struct Exact
{
  double product = 0.;
  double magnitude = 0.;
};
Exact exact_dot(std::int64_t length, const float *a, const float *b);
} // namespace tensormg::precision
