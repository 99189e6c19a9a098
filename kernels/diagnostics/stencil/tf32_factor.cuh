// Factors of products in single precision on tensor cores that multiply TF32.
#pragma once

#include "kernels/mma/instructions.cuh"

namespace tensormg::stencil
{
/// A factor in TF32, and what is left of it, for products that recover single precision.
template <typename Fragment>
struct Factor
{
  Fragment large, small;
  template <typename Value>
  __device__ Factor(int lane, Value value)
  {
    mma::map(large, lane, [&](int i, int j) { return mma::to_tf32(value(i, j)); });
    mma::map(small, lane, [&](int i, int j) {
      const float number = value(i, j);
      return mma::to_tf32(number - static_cast<float>(mma::to_tf32(number)));
    });
  }
  Factor() = default;
};

/// sum += a b; corrected, what the small parts give goes to `corrections`.
template <bool corrected, typename S>
__device__ void multiply(mma::FragmentC<S> &sum, mma::FragmentC<S> &corrections,
    const Factor<mma::FragmentA<S>> &a, const Factor<mma::FragmentB<S>> &b)
{
  mma::mma_sync(sum, a.large, b.large);
  if constexpr (corrected)
  {
    mma::mma_sync(corrections, a.small, b.large);
    mma::mma_sync(corrections, a.large, b.small);
  }
}

/// The unit cuts sums off, so few products go into one of its sums, and these are added outside of it.
template <typename S>
__device__ void add(mma::FragmentC<S> &sum, const mma::FragmentC<S> &other)
{
#pragma unroll
  for (int e = 0; e < mma::FragmentC<S>::n_registers; ++e)
    sum.registers[e] += other.registers[e];
}
} // namespace tensormg::stencil
