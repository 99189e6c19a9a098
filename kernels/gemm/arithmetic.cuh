// What a warp does with fragments: the arithmetic of a product as a policy. Fragments are filled number by
// number from shared memory (ldmatrix fills those of Plain<S> in FP16 directly).
#pragma once

#include <bit>
#include <type_traits>

#include <cuda_fp16.h>

#include "kernels/mma/instructions.cuh"

namespace tensormg::gemm
{
using mma::Fragment;
using mma::FragmentC;
using mma::Operand;

/// In shared memory: factors of TF32 products are floats there.
template <typename S>
using StoredOf = std::conditional_t<std::is_same_v<typename S::Multiplicand, Tf32>, float,
    typename S::Multiplicand>;

template <typename Multiplicand>
__device__ Multiplicand round_to(float x)
{
  if constexpr (std::is_same_v<Multiplicand, Tf32>)
    return mma::to_tf32(x);
  else
    return mma::to_half(x);
}

/// The numbers as they are, or rounded to TF32.
template <typename S_>
struct Plain
{
  using S = S_;
  using Stored = StoredOf<S>;
  using Result = typename S::Accumulator;

  template <Operand operand>
  struct Factor
  {
    Fragment<S, operand> fragment;
    __device__ void set(int element, Stored value)
    {
      if constexpr (std::is_same_v<typename S::Multiplicand, Tf32>)
        fragment.set(element, mma::to_tf32(value));
      else
        fragment.set(element, value);
    }
  };
  struct Sum
  {
    FragmentC<S> sum;
    __device__ Result get(int element) const { return sum.registers[element]; }
  };

  static __device__ void add(Sum &sum, const Factor<Operand::a> &a, const Factor<Operand::b> &b)
  {
    mma::mma_sync(sum.sum, a.fragment, b.fragment);
  }
};

/// A factor as big + 2^-scale_bits small, both rounded to the multiplicand.
template <typename S, int scale_bits, Operand operand>
struct SplitFactor
{
  Fragment<S, operand> big, small;
  __device__ void set(int element, float value)
  {
    using M = typename S::Multiplicand;
    const M rounded = round_to<M>(value);
    big.set(element, rounded);
    float back;
    if constexpr (std::is_same_v<M, Tf32>)
      back = __uint_as_float(rounded.bits);
    else
      back = __half2float(std::bit_cast<__half>(rounded));
    small.set(element, round_to<M>((value - back) * static_cast<float>(1 << scale_bits)));
  }
};

/// Three products into one accumulator, the small ones first.
template <typename S_>
struct ThreeProducts
{
  using S = S_;
  using Stored = float;
  using Result = float;
  template <Operand operand>
  using Factor = SplitFactor<S, 0, operand>;
  struct Sum
  {
    FragmentC<S> sum;
    __device__ float get(int element) const { return sum.registers[element]; }
  };

  static __device__ void add(Sum &sum, const Factor<Operand::a> &a, const Factor<Operand::b> &b)
  {
    mma::mma_sync(sum.sum, a.small, b.big);
    mma::mma_sync(sum.sum, a.big, b.small);
    mma::mma_sync(sum.sum, a.big, b.big);
  }
};

/// Tensor cores cut sums off, CUDA cores round them: the large products start from zero and are added outside.
/// The corrections, scaled up so that they stay in range, have an accumulator of their own.
template <typename S_, int scale_bits>
struct Corrected
{
  using S = S_;
  using Stored = float;
  using Result = float;
  template <Operand operand>
  using Factor = SplitFactor<S, scale_bits, operand>;
  struct Sum
  {
    FragmentC<S> sum, correction;
    __device__ float get(int element) const
    {
      return sum.registers[element] +
          correction.registers[element] * (1.F / static_cast<float>(1 << scale_bits));
    }
  };

  static __device__ void add(Sum &sum, const Factor<Operand::a> &a, const Factor<Operand::b> &b)
  {
    mma::mma_sync(sum.correction, a.small, b.big);
    mma::mma_sync(sum.correction, a.big, b.small);
    FragmentC<S> product{};
    mma::mma_sync(product, a.big, b.big);
#pragma unroll
    for (int r = 0; r < FragmentC<S>::n_registers; ++r)
      sum.sum.registers[r] += product.registers[r];
  }
};
} // namespace tensormg::gemm
