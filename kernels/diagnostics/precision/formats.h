// Rounding to the formats that tensor cores multiply, bit for bit, at compile time too.
#pragma once

#include "kernels/core/half.h"
#include "kernels/mma/bf16.h"
#include "kernels/mma/tf32.h"

namespace tensormg::precision
{
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
