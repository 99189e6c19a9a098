// The diagonal of a local inverse.
#pragma once

namespace tensormg::patch_inverse
{
/// 1 / value, and 0 for 0: the pseudo-inverse.
template <typename C>
__device__ inline C reciprocal_or_zero(C value)
{
  return value == C(0) ? C(0) : C(1) / value;
}
} // namespace tensormg::patch_inverse
