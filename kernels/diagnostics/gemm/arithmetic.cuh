// What a warp does with fragments: the arithmetic of a product as a policy, on any unit S of units.cuh. Fragments are
// filled element by element (ldmatrix fills those of Plain<S> in FP16 directly).
//
//   Plain           multiplicands as they lie in memory
//   Rounded         floats, rounded to the multiplicand
//   ThreeProducts   floats as big + small, three products into one accumulator
//   Corrected       the same; the large products are added outside of the unit
#pragma once

#include <bit>
#include <type_traits>

#include "kernels/diagnostics/gemm/units.cuh"

namespace tensormg::gemm
{
template <typename Multiplicand>
__device__ Multiplicand round_to(float x)
{
  if constexpr (std::is_same_v<Multiplicand, Tf32>)
    return mma::to_tf32(x);
  else if constexpr (std::is_same_v<Multiplicand, Half>)
    return mma::to_half(x);
  else
    return x;
}

/// One accumulator.
template <typename S>
struct OneSum
{
  PartOf<S, Operand::c> sum;
  __device__ typename S::Accumulator get(int e) const { return element<S>(sum, e); }
};

/// One product.
template <typename S>
struct OneProduct
{
  using Result = typename S::Accumulator;
  using Sum = OneSum<S>;
  template <typename A, typename B>
  static __device__ void add(Sum &sum, const A &a, const B &b)
  {
    multiply_add<S>(sum.sum, a.part, b.part);
  }
};

template <typename S_>
struct Plain : OneProduct<S_>
{
  using S = S_;
  using Stored = typename S::Multiplicand;
  template <Operand operand>
  struct Factor
  {
    PartOf<S, operand> part;
    __device__ void set(int e, Stored value) { part.set(e, value); }
  };
};

template <typename S_>
struct Rounded : OneProduct<S_>
{
  using S = S_;
  using Stored = float;
  template <Operand operand>
  struct Factor
  {
    PartOf<S, operand> part;
    __device__ void set(int e, float value)
    {
      part.set(e, round_to<typename S::Multiplicand>(value));
    }
  };
};

/// A factor as big + 2^-scale_bits small, both rounded to the multiplicand.
template <typename S, int scale_bits, Operand operand>
struct SplitFactor
{
  PartOf<S, operand> big, small;
  __device__ void set(int e, float value)
  {
    using M = typename S::Multiplicand;
    const M rounded = round_to<M>(value);
    big.set(e, rounded);
    small.set(e, round_to<M>((value - as_float(rounded)) * static_cast<float>(1 << scale_bits)));
  }
};

/// Three products into one accumulator, the small ones first.
template <typename S_>
struct ThreeProducts
{
  using S = S_;
  using Stored = float;
  using Result = float;
  using Sum = OneSum<S>;
  template <Operand operand>
  using Factor = SplitFactor<S, 0, operand>;

  static __device__ void add(Sum &sum, const Factor<Operand::a> &a, const Factor<Operand::b> &b)
  {
    multiply_add<S>(sum.sum, a.small, b.big);
    multiply_add<S>(sum.sum, a.big, b.small);
    multiply_add<S>(sum.sum, a.big, b.big);
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
    PartOf<S, Operand::c> sum, correction;
    __device__ float get(int e) const
    {
      return element<S>(sum, e) +
          element<S>(correction, e) * (1.F / static_cast<float>(1 << scale_bits));
    }
  };

  static __device__ void add(Sum &sum, const Factor<Operand::a> &a, const Factor<Operand::b> &b)
  {
    multiply_add<S>(sum.correction, a.small, b.big);
    multiply_add<S>(sum.correction, a.big, b.small);
    PartOf<S, Operand::c> product{};
    multiply_add<S>(product, a.big, b.big);
#pragma unroll
    for (int e = 0; e < PartOf<S, Operand::c>::n_elements; ++e)
      element<S>(sum.sum, e) += element<S>(product, e);
  }
};
} // namespace tensormg::gemm
