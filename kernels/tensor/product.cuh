// Products of constant matrices with computed numbers on tensor cores, with the split into terms done in
// registers.
#pragma once

#include <cstring>

#include <cuda_fp16.h>

#include "kernels/device/pack.cuh"
#include "kernels/mma/instructions.cuh"
#include "kernels/tensor/product.h"

namespace tensormg::tensor
{
namespace internal
{
  __device__ inline std::uint32_t bits_of(__half2 value)
  {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  }
} // namespace internal

/// An operand with the elements function(e): a lane's own element number e, as computed.
template <typename P, mma::Operand operand, typename Function>
__device__ inline typename P::template Terms<operand> make_terms(Function function)
{
  using Fragment = mma::Fragment<typename P::S, operand>;
  typename P::template Terms<operand> result;
#pragma unroll
  for (int r = 0; r < Fragment::n_registers; ++r)
  {
    if constexpr (P::is_packed)
    {
      const float first = function(2 * r), second = function(2 * r + 1);
      const __half2 rounded = __floats2half2_rn(first, second);
      result.term[0].registers[r] = internal::bits_of(rounded);
      if constexpr (P::terms == 2)
      {
        const float2 back = __half22float2(rounded);
        result.term[1].registers[r] = internal::bits_of(
            __floats2half2_rn((first - back.x) * P::rest_scale, (second - back.y) * P::rest_scale));
      }
    }
    else if constexpr (P::terms == 2)
    {
      // The hardware ignores the low bits of both: no conversion is needed, the rest is exact.
      const float value = function(r);
      const Tf32 cut = Tf32::truncate(value);
      result.term[0].registers[r] = cut.bits;
      result.term[1].registers[r] = __float_as_uint(value - static_cast<float>(cut));
    }
    else if constexpr (std::is_same_v<typename Fragment::Element, double>)
      result.term[0].registers[r] = function(r);
    else
      result.term[0].registers[r] = mma::to_tf32(function(r)).bits;
  }
  return result;
}

/// Accumulators; of the split in FP16 a second set for the terms that carry the scale.
template <typename P>
struct Sum
{
  static constexpr bool has_rest = P::is_packed && P::terms == 2;
  mma::FragmentC<typename P::S> main{};
  mma::FragmentC<typename P::S> rest{}; ///< unused unless has_rest

  /// += A B
  __device__ void add(const typename P::A &a, const typename P::B &b)
  {
    if constexpr (P::terms == 2)
    {
      mma::mma_sync(has_rest ? rest : main, a.term[1], b.term[0]);
      mma::mma_sync(has_rest ? rest : main, a.term[0], b.term[1]);
    }
    mma::mma_sync(main, a.term[0], b.term[0]);
  }

  __device__ typename P::C get(int element) const
  {
    if constexpr (has_rest)
      return fmaf(rest.registers[element], 1.F / P::rest_scale, main.registers[element]);
    else
      return main.registers[element];
  }
};

/// Reads an operand that append_fragment() wrote.
template <typename P, mma::Operand operand>
__device__ inline typename P::template Terms<operand> load_terms(const std::byte *table, int lane)
{
  using Bytes = FragmentBytes<P, operand>;
  using Word = typename WordOf<Bytes::per_access>::type;
  typename P::template Terms<operand> result;
#pragma unroll
  for (int term = 0; term < P::terms; ++term)
#pragma unroll
    for (int access = 0; access < Bytes::accesses; ++access)
    {
      const Word word = __ldg(reinterpret_cast<const Word *>(table) +
          (term * Bytes::accesses + access) * mma::warp_size + lane);
      std::memcpy(
          reinterpret_cast<std::byte *>(result.term[term].registers) + access * Bytes::per_access,
          &word, Bytes::per_access);
    }
  return result;
}
} // namespace tensormg::tensor
