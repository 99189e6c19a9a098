// Numbers in two terms (two_terms.h) on the device.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/diagnostics/gemm/two_terms.h"
#include "kernels/diagnostics/gemm/units.cuh"
#include "kernels/mma/instructions.cuh"

namespace tensormg::gemm
{
/// Two numbers as two pairs of FP16 numbers.
struct Split
{
  std::uint32_t big, small;
  __device__ Split(float x, float y)
    : big(mma::to_halves(x, y))
  {
    const auto rounded = [&](int shift) {
      return as_float(std::bit_cast<Half>(static_cast<std::uint16_t>(big >> shift)));
    };
    small = mma::to_halves(
        (x - rounded(0)) * scale_of_small_term, (y - rounded(16)) * scale_of_small_term);
  }
};
} // namespace tensormg::gemm
