// The units that multiply the tiles of a warp: mma.sync, WMMA and CUDA cores, with fragments that a policy of
// arithmetic.cuh takes without knowing which it has.
//
//   S                      tile           a lane has
//   mma::Shape             the shape's    what the instruction defines
//   WmmaTf32               16 x 16 x 8    what the library does not tell: filled and stored by whole tiles
//   CudaCores<M>           16 x 8 x 2     C[g][2t], C[g][2t+1], C[g+8][2t], C[g+8][2t+1] as mma.sync, and all of A and B that
//                                         they need, so that nothing is exchanged (g = lane / 4, t = lane % 4)
//   CudaVectors<M, R, w>   8 x 4w x w     A[g][0..w-1], B[l][w t..w t+w-1] for l < w, C[g][w t..w t+w-1]: loaded by w numbers at
//                                         once (g = bits 1, 3, 4 of the lane, t = bits 0, 2)
//
// For each: PartOf<S, operand>, part_entry<S, operand>(lane, element) unless is_opaque<S>, element(sum, e),
// multiply_add(sum, a, b).
#pragma once

#include <type_traits>

#include <cuda_fp16.h>
#include <mma.h>

#include "kernels/mma/instructions.cuh"

namespace tensormg::gemm
{
using mma::Operand;

/// The value of a multiplicand.
template <typename Multiplicand>
__device__ float as_float(Multiplicand x)
{
  if constexpr (std::is_same_v<Multiplicand, Tf32>)
    return __uint_as_float(x.bits);
  else if constexpr (std::is_same_v<Multiplicand, Half>)
    return __half2float(std::bit_cast<__half>(x));
  else
    return x;
}

/// Multiplicands of type M, which are exact as floats; FMA in FP32.
template <typename M>
struct CudaCores
{
  static constexpr int m = 16, n = 8, k = 2;
  using Multiplicand = M;
  using Accumulator = float;
  static constexpr int min_capability = 80;
};

/// Multiplicands of type M, sums of type R: FMA in R. Neighbours in a row are loaded together. Lanes n and n ^ 1 have the same numbers
/// of A, n and n ^ 2 those of B, so that shared memory serves two groups of lanes at once (kernels/mma/bank_conflicts.h).
template <typename M, typename R, int w>
struct CudaVectors
{
  static constexpr int m = 8, n = 4 * w, k = w;
  static constexpr int width = w;
  using Multiplicand = M;
  using Accumulator = R;
  static constexpr int min_capability = 80;
  static constexpr int row(int lane) { return lane / 2 % 2 + lane / 8 * 2; }
  static constexpr int column(int lane) { return w * (lane % 2 + lane / 4 % 2 * 2); }
};

/// wmma m16n16k8, row-major.
struct WmmaTf32
{
  static constexpr int m = 16, n = 16, k = 8;
  using Multiplicand = Tf32;
  using Accumulator = float;
  static constexpr int min_capability = 80;
};

template <typename S>
inline constexpr bool is_mma = false;
template <int m, int n, int k, typename M>
inline constexpr bool is_mma<mma::Shape<m, n, k, M>> = true;

template <typename S>
inline constexpr bool has_vectors = false;
template <typename M, typename R, int w>
inline constexpr bool has_vectors<CudaVectors<M, R, w>> = true;

template <typename S>
inline constexpr bool is_opaque = std::is_same_v<S, WmmaTf32>;

template <typename S, Operand operand>
struct PartOf : mma::Fragment<S, operand>
{};

template <typename M, Operand operand>
struct PartOf<CudaCores<M>, operand>
{
  static constexpr int n_elements = operand == Operand::c ? 4 : 2 * CudaCores<M>::k;
  float registers[n_elements];
  __device__ void set(int element, M value) { registers[element] = as_float(value); }
};

template <typename M, typename R, int w, Operand operand>
struct PartOf<CudaVectors<M, R, w>, operand>
{
  static constexpr int n_elements = operand == Operand::b ? w * w : w;
  R registers[n_elements];
  __device__ void set(int element, M value)
  {
    if constexpr (std::is_same_v<M, R>)
      registers[element] = value;
    else
      registers[element] = as_float(value);
  }
};

template <Operand operand>
struct PartOf<WmmaTf32, operand>
{
  using S = WmmaTf32;
  template <typename Use, typename Type, typename... Order>
  using Of = nvcuda::wmma::fragment<Use, S::m, S::n, S::k, Type, Order...>;
  using Tf32Type = nvcuda::wmma::precision::tf32;
  using Fragment = std::conditional_t<operand == Operand::a,
      Of<nvcuda::wmma::matrix_a, Tf32Type, nvcuda::wmma::row_major>,
      std::conditional_t<operand == Operand::b,
          Of<nvcuda::wmma::matrix_b, Tf32Type, nvcuda::wmma::row_major>,
          Of<nvcuda::wmma::accumulator, float>>>;
  static constexpr int n_elements = static_cast<int>(Fragment::num_elements);
  Fragment fragment;
  __device__ void set(int element, Tf32 value) { fragment.x[element] = as_float(value); }
};

/// Which entry of the operand's tile the lane has as `element`.
template <typename S, Operand operand>
__device__ constexpr mma::Entry part_entry(int lane, int element)
{
  static_assert(!is_opaque<S>);
  if constexpr (is_mma<S>)
    return mma::entry_of<S, operand>(lane, element);
  else if constexpr (has_vectors<S>)
  {
    if constexpr (operand == Operand::a)
      return {S::row(lane), element};
    else if constexpr (operand == Operand::b)
      return {element / S::width, S::column(lane) + element % S::width};
    else
      return {S::row(lane), S::column(lane) + element};
  }
  else
  {
    const int g = lane / 4, t = lane % 4;
    if constexpr (operand == Operand::a)
      return {g + 8 * (element / S::k), element % S::k};
    else if constexpr (operand == Operand::b)
      return {element % S::k, 2 * t + element / S::k};
    else
      return {g + 8 * (element / 2), 2 * t + element % 2};
  }
}

template <typename S>
__device__ typename S::Accumulator &element(PartOf<S, Operand::c> &sum, int e)
{
  if constexpr (is_opaque<S>)
    return sum.fragment.x[e];
  else
    return sum.registers[e];
}
template <typename S>
__device__ typename S::Accumulator element(const PartOf<S, Operand::c> &sum, int e)
{
  if constexpr (is_opaque<S>)
    return sum.fragment.x[e];
  else
    return sum.registers[e];
}

/// sum += A B.
template <typename S>
__device__ void multiply_add(
    PartOf<S, Operand::c> &sum, const PartOf<S, Operand::a> &a, const PartOf<S, Operand::b> &b)
{
  if constexpr (is_opaque<S>)
    nvcuda::wmma::mma_sync(sum.fragment, a.fragment, b.fragment, sum.fragment);
  else if constexpr (is_mma<S>)
    mma::mma_sync<S>(sum, a, b);
  else if constexpr (has_vectors<S>)
  {
#pragma unroll
    for (int l = 0; l < S::k; ++l)
#pragma unroll
      for (int j = 0; j < S::width; ++j)
        sum.registers[j] += a.registers[l] * b.registers[l * S::width + j];
  }
  else
  {
#pragma unroll
    for (int l = 0; l < S::k; ++l)
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j)
          sum.registers[2 * i + j] += a.registers[i * S::k + l] * b.registers[j * S::k + l];
  }
}
} // namespace tensormg::gemm
